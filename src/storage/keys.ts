import { assert } from '@tandem/base/assert.ts'
import { asBuffer } from '@tandem/base/bytes.ts'

export const NUMBER_BYTES = 8

/** Block number as 8 big-endian bytes, so that byte order is number order. */
export const numberKey = (number: number): Uint8Array => writeNumber(new Uint8Array(NUMBER_BYTES), 0, number)

/** Writes a number at an offset of a longer key; returns the same array. */
export const writeNumber = (target: Uint8Array, at: number, number: number): Uint8Array => {
  assert(Number.isSafeInteger(number) && number >= 0, 'a key number is a safe integer')
  const high = Math.floor(number / 0x1_0000_0000)
  const low = number % 0x1_0000_0000
  target[at] = high >>> 24
  target[at + 1] = high >>> 16
  target[at + 2] = high >>> 8
  target[at + 3] = high
  target[at + 4] = low >>> 24
  target[at + 5] = low >>> 16
  target[at + 6] = low >>> 8
  target[at + 7] = low
  return target
}

export const readNumber = (bytes: Uint8Array, at = 0): number => {
  const buffer = asBuffer(bytes)
  return buffer.readUInt32BE(at) * 0x1_0000_0000 + buffer.readUInt32BE(at + 4)
}

/** Returns a key followed by a block number. */
export const keyWithNumber = (key: Uint8Array, number: number): Uint8Array => {
  const out = new Uint8Array(key.byteLength + NUMBER_BYTES)
  out.set(key)
  return writeNumber(out, key.byteLength, number)
}

/** Returns the first key after every key that starts with `prefix`; undefined when there is none. */
export const afterPrefix = (prefix: Uint8Array): Uint8Array | undefined => {
  for (let i = prefix.byteLength - 1; i >= 0; i--) {
    const byte = prefix[i] ?? 0
    if (byte === 0xff) continue
    // Buffer.slice would not copy.
    const out = Uint8Array.from(prefix.subarray(0, i + 1))
    out[i] = byte + 1
    return out
  }
  return undefined
}
