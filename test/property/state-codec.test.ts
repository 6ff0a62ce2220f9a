import { bytesToHex, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeAccount, EMPTY_CODE_HASH, EMPTY_ROOT, encodeAccount } from '../../src/state/account.ts'
import { decodeWord, encodeWord } from '../../src/state/flat-tables.ts'

const seed = Number(process.env['SEED'] ?? 20_250_217)
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(bytesToHex)

test('an account is read as it was stored', () => {
  const account = fc.record({
    nonce: fc.oneof(
      fc.integer({ min: 0, max: 300 }),
      fc.maxSafeNat(),
      fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }),
    ),
    balance: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.bigInt({ min: 0n, max: 300n })),
    codeHash: fc.oneof(fc.constant(EMPTY_CODE_HASH), hash),
    storageRoot: fc.oneof(fc.constant(EMPTY_ROOT), hash),
  })
  fc.assert(
    fc.property(account, value => {
      expect(decodeAccount(encodeAccount(value))).toEqual(value)
    }),
    { seed, numRuns: 2_000 },
  )
})

test('a plain account is short, and a torn one is refused', () => {
  const account = { nonce: 1, balance: 10n ** 18n, codeHash: EMPTY_CODE_HASH, storageRoot: EMPTY_ROOT }
  expect(encodeAccount(account).byteLength).toBe(10)
  const contract = encodeAccount({ ...account, codeHash: toWord(1n), storageRoot: toWord(2n) })
  expect(() => decodeAccount(contract.subarray(0, 40))).toThrow('whole')
})

test('a word is read as it was stored, without its leading zeros', () => {
  const value = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.bigInt({ min: 0n, max: 70_000n }))
  fc.assert(
    fc.property(value, number => {
      const stored = encodeWord(toWord(number))
      expect(decodeWord(stored)).toBe(toWord(number))
      expect(stored[0]).not.toBe(0)
    }),
    { seed, numRuns: 2_000 },
  )
  expect(encodeWord(ZERO_HASH).byteLength).toBe(0)
  expect(decodeWord(undefined)).toBe(ZERO_HASH)
})
