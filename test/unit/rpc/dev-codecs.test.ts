import { expect, test } from 'vitest'
import { amount, gasLimit } from '../../../src/rpc/codecs/dev.ts'

test('a number is not negative and not a fraction, and the refusal says which are taken', () => {
  for (const value of [-5, 1.5, '-5', 'ten', null])
    expect(() => gasLimit.parse(value)).toThrow(
      'want a number from 0 on: a JSON integer to 2^53 - 1, a decimal string or 0x',
    )
})

test('an integer that JSON does not carry exactly is refused with the forms that carry it', () => {
  expect(() => amount.parse(10 ** 18)).toThrow('a JSON integer to 2^53 - 1, a decimal string or 0x and hex digits')
  expect(amount.parse(String(10n ** 18n))).toBe(10n ** 18n)
})

test('takes a gas limit that fits a header, and no larger one: its block could not be read again', () => {
  expect(gasLimit.parse('0xffffffffffffffff')).toBe(2n ** 64n - 1n)
  expect(gasLimit.parse(30_000_000)).toBe(30_000_000n)
  expect(() => gasLimit.parse('0x10000000000000000')).toThrow('number > 64 bits')
})
