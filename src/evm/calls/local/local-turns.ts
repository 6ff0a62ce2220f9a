import { FairSemaphore } from '@tandem/base/async/fair-semaphore.ts'
import { CALL_LIMITS } from '../../../config/limits/clients.ts'

const FULL = new Error('too many calls wait')

/**
 * Turns of calls on the main thread, one at a time: those of one event-loop turn together get CALL_LIMITS.local.turnMs, later ones wait for
 * the next turn, clients in rotation. So other work waits for one turn at most, however many calls arrive.
 */
export class LocalTurns {
  readonly #semaphore = new FairSemaphore(
    { total: 1, client: 1, queue: CALL_LIMITS.local.queue, displaces: true },
    () => FULL,
  )
  #spentMs = 0
  #nextTurn: Promise<void> | undefined

  /** Runs `work` in its turn; returns undefined without running it when too many calls wait. */
  async run<Result extends object>(client: string, work: () => Promise<Result>): Promise<Result | undefined> {
    const release = this.#semaphore.tryAcquire(client) ?? (await this.#semaphore.acquire(client).catch(() => undefined))
    if (release === undefined) return undefined
    if (this.#spentMs >= CALL_LIMITS.local.turnMs) await this.#nextTurn
    const startedMs = performance.now()
    try {
      return await work()
    } finally {
      this.#spentMs += performance.now() - startedMs
      this.#nextTurn ??= new Promise(resolve =>
        setImmediate(() => {
          this.#nextTurn = undefined
          this.#spentMs = 0
          resolve()
        }),
      )
      release()
    }
  }
}
