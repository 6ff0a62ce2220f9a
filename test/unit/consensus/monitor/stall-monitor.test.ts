import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { StallMonitor } from '../../../../src/consensus/monitor/stall-monitor.ts'

test('a stall is told by the time that passed, also when the clock is set back meanwhile', () => {
  const told: unknown[] = []
  const note = (fields: object | string, message?: string) =>
    void told.push(message === undefined ? fields : { ...(fields as object), message })
  const stalls = new StallMonitor({ ...silentLogger, warn: note as never, info: note as never })
  const HOUR_MS = 3_600_000
  stalls.opened(7, HOUR_MS)
  stalls.roundGivenUp({ round: 2 }, 'no decision', HOUR_MS + 4_000)
  // An hour back: later warnings are neither missing nor before the beginning.
  stalls.waits({ round: 2 }, 'waiting', 4_000)
  expect(told).toHaveLength(1)
  stalls.waits({ round: 2 }, 'waiting', 64_000)
  stalls.roundGivenUp({ round: 3 }, 'no decision', 74_000)
  stalls.opened(8, 84_000)
  expect(told).toEqual([
    { round: 2, seconds: 4, message: 'no decision' },
    { round: 2, seconds: 64, message: 'waiting' },
    { round: 3, seconds: 74, message: 'no decision' },
    { number: 7, message: 'deciding again after 84 s' },
  ])
})
