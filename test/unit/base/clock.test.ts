import { systemClock } from '@tandem/base/clock.ts'
import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => {
  vi.useRealTimers()
})

const DAY_MS = 86_400_000

test('a time beyond the longest timer of Node comes when it is due, and is cancelled', () => {
  vi.useFakeTimers({ now: 0 })
  const fired: string[] = []
  systemClock.schedule(60 * DAY_MS, () => fired.push('kept'))
  const cancel = systemClock.schedule(60 * DAY_MS, () => fired.push('cancelled'))
  vi.advanceTimersByTime(59 * DAY_MS)
  expect(fired).toEqual([])
  cancel()
  vi.advanceTimersByTime(DAY_MS)
  expect(fired).toEqual(['kept'])
})

test('timers of Node are never set beyond their limit', () => {
  vi.useFakeTimers({ now: 0 })
  const set = vi.spyOn(globalThis, 'setTimeout')
  systemClock.schedule(2 ** 45, () => {})()
  expect(set.mock.calls.every(([, delay = 0]) => delay < 2 ** 31)).toBe(true)
})
