import { expect, test } from 'vitest'
import { CodedError, codedOr, unlessCoded } from '../../../src/util/errors.ts'

const expected = new CodedError({ code: 'EXPECTED' })
const refuse = (error: Error) => (): number => {
  throw error
}

test('an expected failure is an answer, or none', () => {
  expect(codedOr(() => 7)).toBe(7)
  expect(unlessCoded(() => 7)).toBe(7)
  expect(codedOr(refuse(expected))).toBe(expected)
  expect(unlessCoded(refuse(expected))).toBeUndefined()
})

test('a fault of the program goes on to whoever watches for it', () => {
  const fault = new TypeError('not a function')
  expect(() => codedOr(refuse(fault))).toThrow(fault)
  expect(() => unlessCoded(refuse(fault))).toThrow(fault)
})
