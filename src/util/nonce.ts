import { assert } from './assert.ts'

/**
 * Number of transactions an account has sent, 0 to 2^64 - 1 (EIP-2681): a number while exact, a bigint beyond. Transactions cannot
 * reach that, but a genesis may; all other nonces stay small integers, which need no heap memory. Every count has one form, so `===`
 * and `<` hold between any two of them.
 */
export type Nonce = number | bigint

export const MAX_NONCE = 2n ** 64n - 1n

/** Converts a count below 2^64. */
export const nonceFromBigint = (count: bigint): Nonce => {
  assert(count >= 0n && count <= MAX_NONCE, 'a nonce has 64 bits')
  return count <= Number.MAX_SAFE_INTEGER ? Number(count) : count
}

/** Returns the next nonce. The last one returns itself: no transaction may use it, but a call may. */
export const nextNonce = (nonce: Nonce): Nonce => {
  if (typeof nonce === 'number' && nonce < Number.MAX_SAFE_INTEGER) return nonce + 1
  return nonce === MAX_NONCE ? nonce : nonceFromBigint(BigInt(nonce) + 1n)
}
