import { assert } from './assert.ts'

/**
 * How many transactions an account has sent, 0 to 2^64 - 1 (EIP-2681): a number as far as numbers count exactly, a bigint beyond.
 * Nobody gets there by sending, but a genesis may put an account there; those of all others stay small integers, which cost no memory
 * of their own. Every count has one form, so `===` and `<` hold between any two of them.
 */
export type Nonce = number | bigint

export const MAX_NONCE = 2n ** 64n - 1n

/** Of a count below 2^64. */
export const nonceFromBigint = (count: bigint): Nonce => {
  assert(count >= 0n && count <= MAX_NONCE, 'a nonce has 64 bits')
  return count <= Number.MAX_SAFE_INTEGER ? Number(count) : count
}

/** The nonce after. The last answers itself: no transaction may use it, but a call may stand on it. */
export const nextNonce = (nonce: Nonce): Nonce => {
  if (typeof nonce === 'number' && nonce < Number.MAX_SAFE_INTEGER) return nonce + 1
  return nonce === MAX_NONCE ? nonce : nonceFromBigint(BigInt(nonce) + 1n)
}
