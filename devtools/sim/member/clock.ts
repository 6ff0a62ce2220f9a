import type { Clock } from '@tandem/base/clock.ts'
import type { EventQueue } from '../network/event-queue.ts'
import type { Host } from './host.ts'

/** Wall-clock time at the start of every run, milliseconds: in 2023. */
export const START_MS = 1_700_000_000_000

/** Wall clock of a node, ahead of or behind the true time. */
export interface WallClock {
  nowMs(): number
  skewMs: number
  /** Latest time it ever showed. */
  readonly latestMs: number
}

export const createWallClock = (queue: EventQueue): WallClock => {
  let latestMs = 0
  return {
    skewMs: 0,
    get latestMs() {
      return latestMs
    },
    nowMs() {
      const nowMs = START_MS + Math.floor(queue.nowMs + this.skewMs)
      latestMs = Math.max(latestMs, nowMs)
      return nowMs
    },
  }
}

/** Clock of a process: timers run for the duration they were set for, whatever the wall clock does meanwhile. */
export const processClock = (wall: WallClock, host: Host): Clock => ({
  nowMs: () => wall.nowMs(),
  schedule(atMs, fire) {
    let cancelled = false
    host.later(Math.max(0, atMs - wall.nowMs()), () => {
      if (!cancelled) fire()
    })
    return () => {
      cancelled = true
    }
  },
})
