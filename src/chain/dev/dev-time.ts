import type { Clock } from '@tandem/base/clock.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { DEV_LIMITS } from '../../config/limits/chain.ts'

export type TimestampError =
  /** Timestamps of blocks must grow. */
  | { readonly code: 'TIMESTAMP_TOO_EARLY'; readonly asked: number; readonly head: number }
  | { readonly code: 'TIMESTAMP_TOO_LATE'; readonly asked: number; readonly last: number }

/** Time settings stored in a snapshot. */
export interface SavedTime {
  readonly nowMs: number
  readonly next: number | undefined
  readonly interval: number | undefined
}

/** Throws TIMESTAMP_TOO_LATE. */
export const checkNotTooLate = (asked: number): void => {
  const last = DEV_LIMITS.lastTimestamp
  if (asked > last) throw new CodedError<TimestampError>({ code: 'TIMESTAMP_TOO_LATE', asked, last })
}

/** Throws TIMESTAMP_TOO_EARLY or TIMESTAMP_TOO_LATE for the child of a block at `head`. */
export const checkNext = (asked: number, head: number): void => {
  if (asked <= head) throw new CodedError<TimestampError>({ code: 'TIMESTAMP_TOO_EARLY', asked, head })
  checkNotTooLate(asked)
}

/** Clock of a development chain: the wall clock with an offset, and the requested timestamps of next blocks. */
export class DevTime {
  readonly #clock: Pick<Clock, 'nowMs'>
  #offsetMs = 0
  /** Exact timestamp of the next block, unix seconds. */
  #next: number | undefined
  /** Seconds between any two blocks. */
  #interval: number | undefined

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock
  }

  nowMs(): number {
    return this.#clock.nowMs() + this.#offsetMs
  }

  /** Whole seconds by which this clock is ahead of the wall clock; negative when behind. */
  get offsetSeconds(): number {
    return Math.floor(this.#offsetMs / 1_000)
  }

  /** Returns the wall-clock time at which this clock will show `devMs`. */
  wallMs(devMs: number): number {
    return devMs - this.#offsetMs
  }

  /** Returns what this clock shows at a wall-clock time. */
  atWallMs(wallMs: number): number {
    return wallMs + this.#offsetMs
  }

  /** Throws TIMESTAMP_TOO_LATE. */
  increase(seconds: number): void {
    this.set(this.nowMs() + seconds * 1_000)
  }

  /** Throws TIMESTAMP_TOO_LATE. */
  set(nowMs: number): void {
    checkNotTooLate(Math.floor(nowMs / 1_000))
    this.#moveTo(nowMs)
  }

  /** Sets the timestamp of the child of a block. Throws TIMESTAMP_TOO_EARLY or TIMESTAMP_TOO_LATE. */
  setNext(timestamp: number, head: number): void {
    checkNext(timestamp, head)
    this.#next = timestamp
  }

  /** Moves the clock up to a block that is ahead of it, as after a restart of a chain whose time was moved, or after `set`. */
  catchUpWith(timestamp: number): void {
    if (timestamp * 1_000 > this.nowMs()) this.#moveTo(timestamp * 1_000)
  }

  /** True while timestamps step by an interval, whatever the clock shows. */
  get hasInterval(): boolean {
    return this.#interval !== undefined
  }

  /** True while the next block has a timestamp set for it. */
  get hasNext(): boolean {
    return this.#next !== undefined
  }

  /** undefined ends it. Returns true when one was set before. */
  setInterval(seconds: number | undefined): boolean {
    const had = this.#interval !== undefined
    this.#interval = seconds
    return had
  }

  /** Returns the timestamp of the next block, which is made at `dueMs` or later; `step`: smallest distance from its parent in seconds. */
  timestampAfter(parentTimestamp: number, step: number, dueMs = 0): number {
    if (this.#next !== undefined) return this.#next
    if (this.#interval !== undefined) return parentTimestamp + this.#interval
    return Math.max(parentTimestamp + step, Math.floor(Math.max(dueMs, this.nowMs()) / 1_000))
  }

  /** Handles a new block: a timestamp set for it is used up, and the clock never falls behind it. */
  onBlock(timestamp: number): void {
    const wasTold = this.#next !== undefined
    this.#next = undefined
    if (wasTold) this.#moveTo(timestamp * 1_000)
    else this.catchUpWith(timestamp)
  }

  save(): SavedTime {
    return { nowMs: this.nowMs(), next: this.#next, interval: this.#interval }
  }

  restore({ nowMs, next, interval }: SavedTime): void {
    this.#moveTo(nowMs)
    this.#next = next
    this.#interval = interval
  }

  reset(): void {
    this.#offsetMs = 0
    this.#next = undefined
    this.#interval = undefined
  }

  #moveTo(nowMs: number): void {
    this.#offsetMs = nowMs - this.#clock.nowMs()
  }
}
