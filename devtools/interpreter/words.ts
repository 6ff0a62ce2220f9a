import type { Hex } from '@tandem/base/bytes.ts'

/* Conversions between stack words, memory bytes, and the hex of accounts and slots. */

const MAX_UINT32 = 0xffff_ffffn
const HIGHER_BYTES = 28

/** Reads the word at an offset, with a fast path for small values. */
export const readWord = (view: DataView, at: number): bigint => {
  const high = view.getUint32(at) | view.getUint32(at + 4) | view.getUint32(at + 8) | view.getUint32(at + 12)
  const middle = view.getUint32(at + 16) | view.getUint32(at + 20) | view.getUint32(at + 24)
  if ((high | middle) === 0) return BigInt(view.getUint32(at + HIGHER_BYTES))
  const upper = (view.getBigUint64(at) << 64n) | view.getBigUint64(at + 8)
  return (upper << 128n) | (view.getBigUint64(at + 16) << 64n) | view.getBigUint64(at + 24)
}

export const writeWord = (view: DataView, at: number, word: bigint): void => {
  if (word <= MAX_UINT32) {
    for (let byte = 0; byte < HIGHER_BYTES; byte += 4) view.setUint32(at + byte, 0)
    view.setUint32(at + HIGHER_BYTES, Number(word))
    return
  }
  // Each takes the lowest 64 bits of its argument.
  view.setBigUint64(at, word >> 192n)
  view.setBigUint64(at + 8, word >> 128n)
  view.setBigUint64(at + 16, word >> 64n)
  view.setBigUint64(at + 24, word)
}

/** Returns the account of a word: its lowest 20 bytes. */
export const addressOf = (word: bigint): Hex => `0x${BigInt.asUintN(160, word).toString(16).padStart(40, '0')}`

/** Converts offsets and lengths: values beyond any memory or data become Infinity. */
export const offsetFromWord = (word: bigint): number => (word <= MAX_UINT32 ? Number(word) : Number.POSITIVE_INFINITY)
