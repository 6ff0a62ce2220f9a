import { asBuffer, type Hex } from '../../../util/bytes.ts'

/* Between words of the stack, bytes of memory, and the hex that names accounts and slots. */

const MOST_UINT32 = 0xffff_ffffn
const HIGHER_BYTES = 28

/** The word at a place; small ones without the work of a large one. */
export const readWord = (view: DataView, at: number): bigint => {
  const high = view.getUint32(at) | view.getUint32(at + 4) | view.getUint32(at + 8) | view.getUint32(at + 12)
  const middle = view.getUint32(at + 16) | view.getUint32(at + 20) | view.getUint32(at + 24)
  if ((high | middle) === 0) return BigInt(view.getUint32(at + HIGHER_BYTES))
  const upper = (view.getBigUint64(at) << 64n) | view.getBigUint64(at + 8)
  return (upper << 128n) | (view.getBigUint64(at + 16) << 64n) | view.getBigUint64(at + 24)
}

export const writeWord = (view: DataView, at: number, word: bigint): void => {
  if (word <= MOST_UINT32) {
    for (let byte = 0; byte < HIGHER_BYTES; byte += 4) view.setUint32(at + byte, 0)
    view.setUint32(at + HIGHER_BYTES, Number(word))
    return
  }
  // Each takes the lowest 64 bits of what it is given.
  view.setBigUint64(at, word >> 192n)
  view.setBigUint64(at + 8, word >> 128n)
  view.setBigUint64(at + 16, word >> 64n)
  view.setBigUint64(at + 24, word)
}

/** The account that a word names: its lowest 20 bytes. */
export const addressOf = (word: bigint): Hex => `0x${BigInt.asUintN(160, word).toString(16).padStart(40, '0')}`

/** Up to 32 bytes as a number. */
export const wordOfBytes = (bytes: Uint8Array): bigint =>
  bytes.byteLength === 0 ? 0n : BigInt(`0x${asBuffer(bytes).hexSlice(0, bytes.byteLength)}`)

/** For offsets and lengths: what is larger than any place in memory or data is Infinity. */
export const placeOf = (word: bigint): number => (word <= MOST_UINT32 ? Number(word) : Number.POSITIVE_INFINITY)
