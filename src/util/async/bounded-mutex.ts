import { Mutex } from './mutex.ts'

export interface BoundedMutexLimits {
  /** Pieces of work under way and waiting. */
  readonly queued: number
  /** How long a piece waits for its turn, milliseconds; then it is not begun any more. */
  readonly waitMs: number
}

/** Work that goes one at a time, while whoever waits for it still does. */
export class BoundedMutex {
  readonly #turn = new Mutex()
  readonly #limits: BoundedMutexLimits
  readonly #busy: () => Error
  readonly #nowMs: () => number
  #queued = 0

  /** `busy` makes the error of work that is turned away: at once when too much waits, or at its turn when that came too late. */
  constructor(limits: BoundedMutexLimits, busy: () => Error, nowMs: () => number = () => performance.now()) {
    this.#limits = limits
    this.#busy = busy
    this.#nowMs = nowMs
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#queued >= this.#limits.queued) throw this.#busy()
    const latestMs = this.#nowMs() + this.#limits.waitMs
    this.#queued++
    try {
      return await this.#turn.run(() => {
        if (this.#nowMs() > latestMs) throw this.#busy()
        return work()
      })
    } finally {
      this.#queued--
    }
  }
}
