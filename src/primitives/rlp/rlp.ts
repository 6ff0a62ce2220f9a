import { assert } from '@tandem/base/assert.ts'
import { bigintToBytes, EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { RLP_BOUNDS } from '../../config/protocol-bounds.ts'
import { type RlpCursor, readWhole, rlpError } from './rlp-cursor.ts'

/** Recursive Length Prefix (Ethereum Yellow Paper, appendix B): a string of bytes or a list of items. */
export type RlpItem = Uint8Array | readonly RlpItem[]

/** Payload lengths of the lists of one encoding, in pre-order: filled by the sizing pass, read by the writing pass. */
const payloads: number[] = []
let payloadAt = 0

/** Canonical encoding, in one allocation of the exact size. */
export const encodeRlp = (item: RlpItem): Uint8Array => {
  payloads.length = 0
  payloadAt = 0
  const out = new Uint8Array(measure(item))
  write(item, out, 0)
  return out
}

const isBytes = (item: RlpItem): item is Uint8Array => item instanceof Uint8Array

const measure = (item: RlpItem): number => {
  if (isBytes(item)) return rlpStringBytes(item)
  const slot = payloads.push(0) - 1
  let payload = 0
  for (const child of item) payload += measure(child)
  payloads[slot] = payload
  return rlpListBytes(payload)
}

const write = (item: RlpItem, out: Uint8Array, at: number): number => {
  if (isBytes(item)) return writeRlpString(item, out, at)
  const payload = payloads[payloadAt++] as number
  let next = writeRlpHeader(out, at, payload, 0xc0)
  for (const child of item) next = write(child, out, next)
  return next
}

/** Size of a list or long string with `payload` bytes. */
export const rlpListBytes = (payload: number): number => payload + (payload < 56 ? 1 : 1 + lengthOfLength(payload))

/** Size of one encoded string. */
export const rlpStringBytes = (bytes: Uint8Array): number => {
  const length = bytes.byteLength
  return length === 1 && (bytes[0] as number) < 0x80 ? 1 : rlpListBytes(length)
}

/** Number of bytes of a length, or of another number between 1 and 2^32. */
export const lengthOfLength = (length: number): number =>
  length < 0x100 ? 1 : length < 0x10000 ? 2 : length < 0x1000000 ? 3 : 4

/** Writes the prefix of a string (`base` 0x80) or list (0xc0) and returns the position after it. */
export const writeRlpHeader = (out: Uint8Array, at: number, payload: number, base: 0x80 | 0xc0): number => {
  if (payload < 56) {
    out[at] = base + payload
    return at + 1
  }
  const size = lengthOfLength(payload)
  out[at] = base + 55 + size
  for (let i = size, rest = payload; i > 0; i--, rest = Math.floor(rest / 256)) out[at + i] = rest & 0xff
  return at + 1 + size
}

/** Writes one string item and returns the position after it. */
export const writeRlpString = (bytes: Uint8Array, out: Uint8Array, at: number): number => {
  const length = bytes.byteLength
  if (length === 1 && (bytes[0] as number) < 0x80) {
    out[at] = bytes[0] as number
    return at + 1
  }
  const start = writeRlpHeader(out, at, length, 0x80)
  if (length > 24) out.set(bytes, start)
  // For a few bytes a loop is cheaper than a call into the runtime.
  else for (let i = 0; i < length; i++) out[start + i] = bytes[i] as number
  return start + length
}

/** Writes an address or a word as a string of `size` bytes and returns the position after it. */
export const writeRlpHex = (hex: Hex, size: number, out: Buffer, at: number): number => {
  out[at] = 0x80 + size
  const written = out.write(hex.slice(2), at + 1, size, 'hex')
  assert(written === size, 'an address has 20 bytes, a word 32')
  return at + 1 + size
}

/** Encodes a list of items that are encoded already, such as transactions in a block. */
export const encodeRlpList = (encodedItems: readonly Uint8Array[]): Uint8Array => {
  let payload = 0
  for (const item of encodedItems) payload += item.byteLength
  const out = new Uint8Array(rlpListBytes(payload))
  let at = writeRlpHeader(out, 0, payload, 0xc0)
  for (const item of encodedItems) {
    out.set(item, at)
    at += item.byteLength
  }
  return out
}

/** Strict: canonical lengths, no trailing bytes, bounded depth and number of items; strings are views of `bytes`. Throws RLP_INVALID. */
export const decodeRlp = (bytes: Uint8Array): RlpItem => {
  const budget = { items: RLP_BOUNDS.items }
  return readWhole(bytes, cursor => readItem(cursor, 0, budget))
}

/** Like decodeRlp; the outermost item must be a list. */
export const decodeRlpList = (bytes: Uint8Array): readonly RlpItem[] => {
  const item = decodeRlp(bytes)
  if (isBytes(item)) throw rlpError('rlp: expected List')
  return item
}

const readItem = (cursor: RlpCursor, depth: number, budget: { items: number }): RlpItem => {
  if (--budget.items < 0) throw rlpError('rlp: too many items')
  if (!cursor.nextIsList()) return cursor.bytes()
  if (depth >= RLP_BOUNDS.depth) throw rlpError('rlp: lists nested too deeply')
  return cursor.items(inner => readItem(inner, depth + 1, budget))
}

/** Returns the bytes of a canonical integer, to be encoded as a string. */
export const uintItem = (value: bigint | number): Uint8Array => {
  if (value > SMALL) return bigintToBytes(BigInt(value))
  // Most values are small; building a short array is cheaper than a conversion through hex.
  let rest = Number(value)
  let size = 0
  for (let n = rest; n >= 1; n /= 256) size++
  if (size === 0) return EMPTY_BYTES
  const bytes = new Uint8Array(size)
  for (let i = size - 1; i >= 0; i--) {
    bytes[i] = rest & 0xff
    rest = Math.floor(rest / 256)
  }
  return bytes
}

const SMALL = 2 ** 48
