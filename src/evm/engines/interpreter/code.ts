import { keccak256Hex } from '../../../crypto/hash.ts'
import { EMPTY_BYTES, type Hex } from '../../../util/bytes.ts'
import { readWord, wordOfBytes } from './words.ts'

/** Executions of wide pushes after which their values are remembered. */
const PUSHES_BEFORE_CACHE = 256

/** Code as it runs: what is found out about it is found out when it is needed, and once. */
export class Code {
  readonly bytes: Uint8Array
  #jumps: Uint8Array | undefined = undefined
  #pushes: (bigint | undefined)[] | undefined = undefined
  #widePushes = 0
  #view: DataView | undefined = undefined

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** 1 where a JUMPDEST stands outside push data. */
  get jumps(): Uint8Array {
    this.#jumps ??= findJumps(this.bytes)
    return this.#jumps
  }

  /** The value of a PUSH whose data begins here; data that runs past the end of the code goes on in zeros. */
  push(at: number, size: number): bigint {
    const known = this.#pushes?.[at]
    if (known !== undefined) return known
    const value = this.#readPush(at, size)
    if (++this.#widePushes > PUSHES_BEFORE_CACHE) {
      this.#pushes ??= new Array(this.bytes.byteLength)
      this.#pushes[at] = value
    }
    return value
  }

  #readPush(at: number, size: number): bigint {
    const { bytes } = this
    const end = at + size
    if (end >= 32 && end <= bytes.byteLength) {
      this.#view ??= new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      return BigInt.asUintN(8 * size, readWord(this.#view, end - 32))
    }
    const given = bytes.subarray(at, end)
    return wordOfBytes(given) << BigInt(8 * (size - given.byteLength))
  }
}

const findJumps = (code: Uint8Array): Uint8Array => {
  const jumps = new Uint8Array(code.byteLength)
  for (let at = 0; at < code.byteLength; at++) {
    const op = code[at] as number
    if (op === 0x5b) jumps[at] = 1
    else if (op >= 0x60 && op <= 0x7f) at += op - 0x5f
  }
  return jumps
}

/** By identity: the state hands out one array per code as long as its cache keeps it. */
const known = new WeakMap<Uint8Array, Code>()

/** Code of an account. */
export const codeOf = (bytes: Uint8Array): Code => {
  let found = known.get(bytes)
  if (found === undefined) {
    found = new Code(bytes)
    known.set(bytes, found)
  }
  return found
}

/** What EthereumJS shows of code in the object format, which no account since London has: its first two bytes, and their hash. */
const OBJECT_FORMAT = Uint8Array.of(0xef, 0x00)
export const OBJECT_FORMAT_HASH: Hex = keccak256Hex(OBJECT_FORMAT)
export const isObjectFormat = (code: Uint8Array): boolean => code[0] === 0xef && code[1] === 0x00
export const shownCode = (code: Uint8Array): Uint8Array => (isObjectFormat(code) ? OBJECT_FORMAT : code)

export const NO_CODE = new Code(EMPTY_BYTES)
