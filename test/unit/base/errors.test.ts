import { CodedError, resultOrCoded, undefinedIfCoded } from '@tandem/base/errors.ts'
import { expect, test } from 'vitest'

const expected = new CodedError({ code: 'EXPECTED' })
const refuse = (error: Error) => (): number => {
  throw error
}

test('an expected failure is an answer, or none', () => {
  expect(resultOrCoded(() => 7)).toBe(7)
  expect(undefinedIfCoded(() => 7)).toBe(7)
  expect(resultOrCoded(refuse(expected))).toBe(expected)
  expect(undefinedIfCoded(refuse(expected))).toBeUndefined()
})

test('a fault of the program is rethrown', () => {
  const fault = new TypeError('not a function')
  expect(() => resultOrCoded(refuse(fault))).toThrow(fault)
  expect(() => undefinedIfCoded(refuse(fault))).toThrow(fault)
})

test('bytes of a failure stand in its message by their number: megabytes as a list would take seconds', () => {
  for (const data of [new Uint8Array(8_000_000), Buffer.alloc(8_000_000)])
    expect(new CodedError({ code: 'REVERTED', data, value: 1n }).message).toBe(
      '{"code":"REVERTED","data":"8000000 bytes","value":"1"}',
    )
})
