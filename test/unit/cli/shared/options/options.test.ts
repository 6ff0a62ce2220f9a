import { expect, test } from 'vitest'
import { historyOption } from '../../../../../src/cli/shared/options/options.ts'

test('history is at least one block: the state before the head is what a proof or a trace starts from', () => {
  expect(historyOption('1')).toBe(1)
  expect(historyOption('archive')).toBe('archive')
  expect(() => historyOption('0')).toThrow('whole number from 1 to')
})
