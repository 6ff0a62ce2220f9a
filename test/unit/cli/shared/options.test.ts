import { expect, test } from 'vitest'
import { history } from '../../../../src/cli/shared/options.ts'

test('history is at least one block: the state before the head is what a proof or a trace starts from', () => {
  expect(history('1')).toBe(1)
  expect(history('archive')).toBe('archive')
  expect(() => history('0')).toThrow('whole number from 1 to')
})
