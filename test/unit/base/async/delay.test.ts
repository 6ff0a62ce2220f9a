import { delayUntil, waitUntil } from '@tandem/base/async/delay.ts'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../support/consensus/manual-clock.ts'

test('a pause is over when its time has come, or when it is cut short', async () => {
  const clock = new ManualClock()
  const log: string[] = []
  const long = delayUntil(clock, clock.nowMs() + 1_000)
  const cut = delayUntil(clock, clock.nowMs() + 5_000)
  void long.over.then(() => log.push('long'))
  void cut.over.then(() => log.push('cut'))
  await clock.advance(999)
  expect(log).toEqual([])
  cut.end()
  await clock.advance(0)
  expect(log).toEqual(['cut'])
  await clock.advance(1)
  expect(log).toEqual(['cut', 'long'])
  await clock.advance(5_000)
  expect(log).toEqual(['cut', 'long'])
})

test('a wait is over when its time has come, when it is stopped, or at once', async () => {
  const clock = new ManualClock()
  const stopping = new AbortController()
  const log: string[] = []
  const wait = (name: string, atMs: number) => void waitUntil(clock, atMs, stopping.signal).then(() => log.push(name))
  wait('past', clock.nowMs())
  wait('short', clock.nowMs() + 10)
  wait('long', clock.nowMs() + 1_000)
  await clock.advance(9)
  expect(log).toEqual(['past'])
  await clock.advance(1)
  expect(log).toEqual(['past', 'short'])
  stopping.abort()
  await clock.advance(0)
  expect(log).toEqual(['past', 'short', 'long'])
  wait('stopped', clock.nowMs() + 1_000)
  await clock.advance(0)
  expect(log).toEqual(['past', 'short', 'long', 'stopped'])
})
