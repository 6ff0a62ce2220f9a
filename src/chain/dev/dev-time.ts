import type { Clock } from '../../util/clock.ts'

/** What a snapshot keeps of the time. */
export interface SavedTime {
  readonly nowMs: number
  readonly next: number | undefined
  readonly interval: number | undefined
}

/** The time of a development chain: the wall clock moved by what it was told, and what was said of the timestamps of next blocks. */
export class DevTime {
  readonly #clock: Pick<Clock, 'nowMs'>
  #offsetMs = 0
  /** Exactly this for the next block, unix seconds. */
  #next: number | undefined
  /** Seconds between any two blocks. */
  #interval: number | undefined

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock
  }

  nowMs(): number {
    return this.#clock.nowMs() + this.#offsetMs
  }

  /** Whole seconds by which this time is ahead of the wall clock; negative when behind. */
  get offsetSeconds(): number {
    return Math.floor(this.#offsetMs / 1_000)
  }

  /** The wall-clock time at which this one will show `devMs`. */
  wallMs(devMs: number): number {
    return devMs - this.#offsetMs
  }

  increase(seconds: number): void {
    this.#offsetMs += seconds * 1_000
  }

  set(nowMs: number): void {
    this.#offsetMs = nowMs - this.#clock.nowMs()
  }

  setNext(timestamp: number): void {
    this.#next = timestamp
  }

  /** undefined ends it. Answers whether there was one. */
  setInterval(seconds: number | undefined): boolean {
    const had = this.#interval !== undefined
    this.#interval = seconds
    return had
  }

  /** Timestamp of the next block, which comes at `dueMs` or later; `step`: seconds it lies after its parent at least. */
  timestampAfter(parentTimestamp: number, step: number, dueMs = 0): number {
    if (this.#next !== undefined) return this.#next
    if (this.#interval !== undefined) return parentTimestamp + this.#interval
    return Math.max(parentTimestamp + step, Math.floor(Math.max(dueMs, this.nowMs()) / 1_000))
  }

  /** A block was made: what was said of it alone is over, and the time goes on from it, never behind it. */
  onBlock(timestamp: number): void {
    const wasTold = this.#next !== undefined
    this.#next = undefined
    if (wasTold || timestamp * 1_000 > this.nowMs()) this.set(timestamp * 1_000)
  }

  save(): SavedTime {
    return { nowMs: this.nowMs(), next: this.#next, interval: this.#interval }
  }

  /** It is again the time at which it was saved. */
  restore({ nowMs, next, interval }: SavedTime): void {
    this.set(nowMs)
    this.#next = next
    this.#interval = interval
  }

  reset(): void {
    this.#offsetMs = 0
    this.#next = undefined
    this.#interval = undefined
  }
}
