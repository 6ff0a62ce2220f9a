import { bytesEqual, bytesToBigint, bytesToHex, concatBytes, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { checksumAddress } from '../../keccak.ts'
import type { AbiType } from './abi-types.ts'

/** A decoded value as JSON has it: numbers as decimal text, bytes as hex, arrays and tuples as arrays. */
export type AbiValue = string | boolean | readonly AbiValue[]

const WORD = 32
const MAX_VALUES = 10_000

/** Decoding stops by this error, which never leaves the file. */
class MalformedData extends Error {}

/**
 * Values of ABI-encoded parameters; undefined when the bytes are no such encoding, have more than 10,000 values, or name the same bytes
 * for so many of them that what is read is longer than the encoding.
 */
export const decodeParameters = (types: readonly AbiType[], data: Uint8Array): readonly AbiValue[] | undefined => {
  try {
    return new Decoding(data).tuple(types, 0)
  } catch (error) {
    if (error instanceof MalformedData) return undefined
    throw error
  }
}

/** Are the bytes what encoding their own values gives? */
export const isCanonical = (types: readonly AbiType[], data: Uint8Array): boolean => {
  const values = decodeParameters(types, data)
  return values !== undefined && bytesEqual(encodeParameters(types, values), data)
}

const isDynamic = (type: AbiType): boolean => {
  if (type.kind === 'array') return type.length === undefined || isDynamic(type.item)
  return type.kind === 'tuple' ? type.items.some(isDynamic) : type.kind !== 'word'
}

/** Bytes of a type in the head. */
const headSize = (type: AbiType): number => {
  if (isDynamic(type)) return WORD
  if (type.kind === 'array') return (type.length ?? 0) * headSize(type.item)
  return type.kind === 'tuple' ? type.items.reduce((sum, item) => sum + headSize(item), 0) : WORD
}

class Decoding {
  readonly #data: Uint8Array
  #values = 0
  /** Bytes that were read. An encoding of its own values has each once, but offsets may name the same place many times. */
  #bytes = 0

  constructor(data: Uint8Array) {
    this.#data = data
  }

  /** Offsets inside count from `base`. */
  tuple(types: readonly AbiType[], base: number): readonly AbiValue[] {
    let at = base
    return types.map(type => {
      const place = at
      at += headSize(type)
      return this.#value(type, isDynamic(type) ? base + this.#count(place) : place)
    })
  }

  #value(type: AbiType, at: number): AbiValue {
    if (++this.#values > MAX_VALUES) throw new MalformedData()
    if (type.kind === 'word') return wordValue(type.name, this.#read(at, WORD))
    if (type.kind === 'tuple') return this.tuple(type.items, at)
    if (type.kind === 'array') return this.#array(type.item, type.length, at)
    const length = this.#count(at)
    const padded = this.#read(at + WORD, Math.ceil(length / WORD) * WORD)
    const bytes = padded.subarray(0, length)
    return type.kind === 'bytes' ? bytesToHex(bytes) : textOf(bytes)
  }

  #array(item: AbiType, fixed: number | undefined, at: number): AbiValue {
    const length = fixed ?? this.#count(at)
    if (length > MAX_VALUES) throw new MalformedData()
    return this.tuple(new Array<AbiType>(length).fill(item), fixed === undefined ? at + WORD : at)
  }

  /** A length or an offset. */
  #count(at: number): number {
    const value = bytesToBigint(this.#read(at, WORD))
    if (value > BigInt(this.#data.length)) throw new MalformedData()
    return Number(value)
  }

  #read(at: number, length: number): Uint8Array {
    this.#bytes += length
    if (!(at + length <= this.#data.length) || this.#bytes > this.#data.length) throw new MalformedData()
    return this.#data.subarray(at, at + length)
  }
}

const textOf = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new MalformedData()
  }
}

/** Number at the end of the name of a type. */
const bitsOf = (name: string): number => Number(name.replaceAll(/[a-z]/g, '')) || 256

const wordValue = (name: string, word: Uint8Array): AbiValue => {
  const value = bytesToBigint(word)
  if (name === 'address') {
    if (value >> 160n !== 0n) throw new MalformedData()
    return checksumAddress(bytesToHex(word.subarray(12)))
  }
  if (name === 'bool') {
    if (value > 1n) throw new MalformedData()
    return value === 1n
  }
  if (name === 'function') return fixedBytes(word, 24)
  if (name.startsWith('bytes')) return fixedBytes(word, bitsOf(name))
  const bits = bitsOf(name)
  const number = name.startsWith('int') ? BigInt.asIntN(256, value) : value
  if ((name.startsWith('int') ? BigInt.asIntN(bits, number) : BigInt.asUintN(bits, number)) !== number)
    throw new MalformedData()
  return number.toString()
}

const fixedBytes = (word: Uint8Array, length: number): AbiValue => {
  if (word.subarray(length).some(byte => byte !== 0)) throw new MalformedData()
  return bytesToHex(word.subarray(0, length))
}

const word = (value: bigint | number): Uint8Array => hexToBytes(toWord(BigInt.asUintN(256, BigInt(value))))

/** ABI encoding of values; each must be one of its type. */
export const encodeParameters = (types: readonly AbiType[], values: readonly AbiValue[]): Uint8Array => {
  const heads: Uint8Array[] = []
  const tails: Uint8Array[] = []
  let offset = types.reduce((sum, type) => sum + headSize(type), 0)
  types.forEach((type, index) => {
    const encoded = encodeValue(type, values[index] as AbiValue)
    if (isDynamic(type)) {
      heads.push(word(offset))
      tails.push(encoded)
      offset += encoded.length
    } else heads.push(encoded)
  })
  return concatBytes(...heads, ...tails)
}

const encodeValue = (type: AbiType, value: AbiValue): Uint8Array => {
  if (type.kind === 'word') return encodeWord(type.name, value as string | boolean)
  if (type.kind === 'tuple') return encodeParameters(type.items, value as readonly AbiValue[])
  if (type.kind === 'array') {
    const items = value as readonly AbiValue[]
    const body = encodeParameters(new Array<AbiType>(items.length).fill(type.item), items)
    return type.length === undefined ? concatBytes(word(items.length), body) : body
  }
  const bytes = type.kind === 'string' ? new TextEncoder().encode(value as string) : hexToBytes(value as `0x${string}`)
  return concatBytes(word(bytes.length), padded(bytes))
}

const padded = (bytes: Uint8Array): Uint8Array => {
  const whole = new Uint8Array(Math.ceil(bytes.length / WORD) * WORD)
  whole.set(bytes)
  return whole
}

const encodeWord = (name: string, value: string | boolean): Uint8Array => {
  if (typeof value === 'boolean') return word(value ? 1 : 0)
  if (name.startsWith('bytes') || name === 'function') return padded(hexToBytes(value as `0x${string}`))
  return word(BigInt(value))
}
