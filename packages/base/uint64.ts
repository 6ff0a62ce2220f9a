import { assert } from './assert.ts'

/**
 * Integer from 0 to 2^64 - 1: a number while exact, a bigint beyond. Each has one form, so `===` and `<` hold between any two of them;
 * all that a chain reaches are small integers, which need no heap memory.
 */
export type Uint64 = number | bigint

export const MAX_UINT64 = 2n ** 64n - 1n

/** Converts an integer below 2^64. */
export const uint64FromBigint = (value: bigint): Uint64 => {
  assert(value >= 0n && value <= MAX_UINT64, 'the integer has 64 bits')
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
}

/** Number of transactions an account has sent (EIP-2681). Transactions cannot reach 2^53, but a genesis may. */
export type Nonce = Uint64

/** Returns the next nonce. The last one returns itself: no transaction may use it, but a call may. */
export const nextNonce = (nonce: Nonce): Nonce => {
  if (typeof nonce === 'number' && nonce < Number.MAX_SAFE_INTEGER) return nonce + 1
  return nonce === MAX_UINT64 ? nonce : uint64FromBigint(BigInt(nonce) + 1n)
}
