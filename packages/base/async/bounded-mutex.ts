import { Mutex } from './mutex.ts'

interface BoundedMutexLimits {
  /** Limit of tasks under way and waiting. */
  readonly queued: number
  /** Milliseconds that a task may wait; after that it is not started. */
  readonly waitMs: number
}

/** Mutex with a bounded queue and a bounded wait. */
export class BoundedMutex {
  readonly #mutex = new Mutex()
  readonly #limits: BoundedMutexLimits
  readonly #busy: () => Error
  readonly #nowMs: () => number
  #queued = 0

  /** `busy` creates the error of a refused task: immediately when the queue is full, or when it would start too late. */
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
      return await this.#mutex.run(() => {
        if (this.#nowMs() > latestMs) throw this.#busy()
        return work()
      })
    } finally {
      this.#queued--
    }
  }
}
