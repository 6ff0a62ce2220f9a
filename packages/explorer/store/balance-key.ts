import { assert } from '@tandem/base/assert.ts'
import { asBuffer, type Hex, hexToBytes } from '@tandem/base/bytes.ts'

/**
 * Signed balances as 40 bytes whose byte order is the numeric order. A token may log anything, so a sum of logged amounts may be
 * negative or beyond 256 bits; 2^62 transfers of 2^256 fit.
 */
const BYTES = 40
const BIAS = 1n << 319n

export const balanceToKey = (balance: bigint): Uint8Array => {
  const biased = balance + BIAS
  assert(biased >= 0n && biased < 2n * BIAS, 'a balance within 320 bits')
  return hexToBytes(`0x${biased.toString(16).padStart(2 * BYTES, '0')}` as Hex)
}

export const balanceFromKey = (key: Uint8Array): bigint =>
  BigInt(`0x${asBuffer(key).hexSlice(0, key.byteLength)}`) - BIAS
