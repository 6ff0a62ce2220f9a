import { expect, test } from 'vitest'
import { Cancellation } from '../../../../src/util/async/cancellation.ts'

test('calls back once, those who have not forgotten it, and at once those who come later', () => {
  const told: string[] = []
  const cancellation = new Cancellation()
  cancellation.onCancel(() => told.push('a'))
  const forget = cancellation.onCancel(() => told.push('b'))
  forget()
  expect(cancellation.isCancelled).toBe(false)
  cancellation.cancel()
  cancellation.cancel()
  cancellation.onCancel(() => told.push('c'))
  expect([cancellation.isCancelled, told]).toEqual([true, ['a', 'c']])
})
