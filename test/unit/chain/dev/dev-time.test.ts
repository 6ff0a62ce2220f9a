import { expect, test } from 'vitest'
import { DevTime } from '../../../../src/chain/dev/dev-time.ts'

const NOW = 1_800_000_000
const at = (seconds = NOW) => {
  const clock = { ms: seconds * 1_000, nowMs: () => clock.ms }
  return { clock, time: new DevTime(clock) }
}

test('a block is of now, and so many seconds after its parent at least', () => {
  const { time } = at()
  expect(time.timestampAfter(NOW - 100, 1)).toBe(NOW)
  expect(time.timestampAfter(NOW, 1)).toBe(NOW + 1)
  expect(time.timestampAfter(NOW, 0)).toBe(NOW)
})

test('time that was moved goes on', () => {
  const { time, clock } = at()
  time.increase(100)
  expect([time.offsetSeconds, time.timestampAfter(0, 1)]).toEqual([100, NOW + 100])
  clock.ms += 5_000
  expect(time.timestampAfter(0, 1)).toBe(NOW + 105)
  time.set(NOW * 1_000 - 60_000)
  expect([time.offsetSeconds, time.timestampAfter(0, 1)]).toEqual([-65, NOW - 60])
  // When a wall clock must ring for a moment of this one.
  expect(time.wallMs(time.nowMs() + 500)).toBe(clock.ms + 500)
})

test('a timestamp that was set holds for one block, backwards too, and time goes on from it', () => {
  const { time, clock } = at()
  time.setNext(NOW - 50, NOW - 99)
  expect(time.timestampAfter(NOW - 99, 1)).toBe(NOW - 50)
  time.onBlock(NOW - 50)
  clock.ms += 2_000
  expect(time.timestampAfter(NOW - 50, 1)).toBe(NOW - 48)
})

test('time is never behind the head; a block in the past does not hold it back', () => {
  const { time } = at()
  time.onBlock(NOW + 30)
  expect(time.timestampAfter(0, 1)).toBe(NOW + 30)
  time.onBlock(NOW - 1_000)
  expect(time.timestampAfter(0, 1)).toBe(NOW + 30)
})

test('an interval lies between any two blocks until it is removed', () => {
  const { time } = at()
  expect(time.setInterval(12)).toBe(false)
  expect(time.timestampAfter(NOW, 1)).toBe(NOW + 12)
  time.onBlock(NOW + 12)
  expect(time.timestampAfter(NOW + 12, 1)).toBe(NOW + 24)
  expect(time.setInterval(undefined)).toBe(true)
  expect(time.timestampAfter(NOW + 12, 1)).toBe(NOW + 13)
})

test('what was saved comes back: the moment, not the offset', () => {
  const { time, clock } = at()
  time.increase(100)
  time.setNext(NOW + 999, NOW)
  const saved = time.save()
  time.onBlock(NOW + 999)
  time.increase(1_000)
  clock.ms += 60_000
  time.restore(saved)
  expect(time.nowMs()).toBe((NOW + 100) * 1_000)
  expect(time.timestampAfter(0, 1)).toBe(NOW + 999)
  time.reset()
  expect(time.nowMs()).toBe(clock.ms)
})
