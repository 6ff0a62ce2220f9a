import { StallTimer } from '@tandem/base/async/stall-timer.ts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const LIMITS = { stallMs: 3_000, bytesPerMs: 100 }

/** Takes a piece of 1,000 bytes every 100 ms: a tenth of the slowest average. */
const readSlowly = (stall: StallTimer, ms: number): void => {
  for (let at = 0; at < ms; at += 100) {
    stall.count(1_000)
    stall.wait()
    vi.advanceTimersByTime(100)
    stall.stop()
  }
}

test('a reader that takes nothing, or too little, is given up after the limit', () => {
  let stalls = 0
  const stall = new StallTimer(LIMITS, () => stalls++)
  stall.wait()
  vi.advanceTimersByTime(2_990)
  expect(stalls).toBe(0)
  vi.advanceTimersByTime(20)
  expect(stalls).toBe(1)
  const slow = new StallTimer(LIMITS, () => stalls++)
  readSlowly(slow, 3_200)
  expect(stalls).toBe(1)
  readSlowly(slow, 400)
  expect(stalls).toBeGreaterThan(1)
})

test.each(['takes little', 'takes nothing'])(
  'a reader that %s while there is patience has its time once there is none',
  how => {
    let stalls = 0
    let isPatient = true
    const stall = new StallTimer(
      LIMITS,
      () => stalls++,
      () => isPatient,
    )
    if (how === 'takes little') readSlowly(stall, 20_000)
    stall.wait()
    vi.advanceTimersByTime(how === 'takes little' ? 0 : 20_000)
    isPatient = false
    vi.advanceTimersByTime(1_900)
    expect(stalls).toBe(0)
    vi.advanceTimersByTime(1_200)
    expect(stalls).toBe(1)
  },
)
