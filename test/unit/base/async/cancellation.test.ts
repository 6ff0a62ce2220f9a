import { Cancellation } from '@tandem/base/async/cancellation.ts'
import { expect, test } from 'vitest'

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
