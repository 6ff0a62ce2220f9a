import { MAX_UINT64, type Nonce, nextNonce, uint64FromBigint } from '@tandem/base/uint64.ts'
import { expect, test } from 'vitest'

const LAST_NUMBER = BigInt(Number.MAX_SAFE_INTEGER)

test('a count is a number as far as numbers count, and a bigint beyond', () => {
  expect([0n, 1n, LAST_NUMBER].map(uint64FromBigint)).toEqual([0, 1, Number.MAX_SAFE_INTEGER])
  expect([LAST_NUMBER + 1n, MAX_UINT64].map(uint64FromBigint)).toEqual([2n ** 53n, 2n ** 64n - 1n])
  for (const count of [-1n, MAX_UINT64 + 1n]) expect(() => uint64FromBigint(count)).toThrow('64 bits')
})

test('counting goes on where numbers end', () => {
  let nonce: Nonce = Number.MAX_SAFE_INTEGER - 1
  const seen = Array.from({ length: 4 }, () => (nonce = nextNonce(nonce)))
  expect(seen).toEqual([Number.MAX_SAFE_INTEGER, 2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n])
  expect(nextNonce(MAX_UINT64 - 1n)).toBe(MAX_UINT64)
  expect(nextNonce(MAX_UINT64)).toBe(MAX_UINT64)
})

test('any two are in order, whatever their form', () => {
  const [below, above]: Nonce[] = [Number.MAX_SAFE_INTEGER, 2n ** 53n]
  expect(below !== undefined && above !== undefined && below < above && above > below).toBe(true)
})
