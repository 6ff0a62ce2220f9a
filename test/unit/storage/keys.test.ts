import { compareBytes } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { BUCKETS } from '../../../src/storage/buckets.ts'
import { afterPrefix, keyWithNumber, numberKey, readNumber } from '../../../src/storage/keys.ts'

test('number keys keep their order and value', () => {
  const numbers = [0, 1, 255, 256, 65_535, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 40 + 7, Number.MAX_SAFE_INTEGER]
  const keys = numbers.map(numberKey)
  expect(keys.map(key => readNumber(key))).toEqual(numbers)
  for (let i = 1; i < keys.length; i++) expect(compareBytes(keys[i - 1]!, keys[i]!)).toBeLessThan(0)
})

test('a number that is none is refused', () => {
  for (const number of [-1, 0.5, 2 ** 53, Number.NaN]) expect(() => numberKey(number)).toThrow('safe integer')
})

test('a key with a number starts with the key', () => {
  const key = keyWithNumber(Uint8Array.of(1, 2), 3)
  expect([...key]).toEqual([1, 2, 0, 0, 0, 0, 0, 0, 0, 3])
  expect(readNumber(key, 2)).toBe(3)
})

test('the key after a prefix', () => {
  expect(afterPrefix(Uint8Array.of(1, 2))).toEqual(Uint8Array.of(1, 3))
  expect(afterPrefix(Uint8Array.of(1, 255))).toEqual(Uint8Array.of(2))
  expect(afterPrefix(Uint8Array.of(255, 255))).toBeUndefined()
})

test('what follows a prefix leaves the prefix as it is, a view of a row among them', () => {
  const prefix = Buffer.from([1, 2])
  expect(afterPrefix(prefix)).toEqual(Uint8Array.of(1, 3))
  expect(prefix).toEqual(Buffer.from([1, 2]))
})

test('no two buckets share a number, and each fits a byte below the last', () => {
  const numbers = Object.values(BUCKETS)
  expect(new Set(numbers).size).toBe(numbers.length)
  for (const number of numbers) expect(number).toBeGreaterThan(0)
  for (const number of numbers) expect(number).toBeLessThan(255)
})
