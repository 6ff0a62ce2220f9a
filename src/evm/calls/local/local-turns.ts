import { CALL_LIMITS } from '../../../config/limits/clients.ts'
import { ClientQueue } from '../client-queue.ts'

interface Waiting {
  start(): void
  refuse(): void
}

/**
 * Turns of calls on the main thread, one at a time: those of one event-loop turn together get CALL_LIMITS.local.turnMs, later ones wait for
 * the next turn, clients in rotation. So other work waits for one turn at most, however many calls arrive.
 */
export class LocalTurns {
  readonly #queue = new ClientQueue<Waiting>(CALL_LIMITS.local.queue)
  #busy = false
  #spentMs = 0
  #resetScheduled = false

  /** Runs `work` in its turn; returns undefined without running it when too many calls wait. */
  async run<Result extends object>(client: string, work: () => Promise<Result>): Promise<Result | undefined> {
    if ((this.#busy || this.#isSpent) && !(await this.#wait(client))) return undefined
    this.#busy = true
    const startedMs = performance.now()
    try {
      return await work()
    } finally {
      this.#busy = false
      this.#spend(performance.now() - startedMs)
      this.#next()
    }
  }

  get #isSpent(): boolean {
    return this.#spentMs >= CALL_LIMITS.local.turnMs
  }

  #wait(client: string): Promise<boolean> {
    return new Promise(resolve => {
      const waiting = { start: () => resolve(true), refuse: () => resolve(false) }
      this.#queue.push(client, waiting)?.refuse()
    })
  }

  #spend(ms: number): void {
    this.#spentMs += ms
    if (this.#resetScheduled) return
    this.#resetScheduled = true
    setImmediate(() => {
      this.#resetScheduled = false
      this.#spentMs = 0
      this.#next()
    })
  }

  #next(): void {
    if (this.#busy || this.#isSpent) return
    const waiting = this.#queue.shift(() => true)
    if (waiting === undefined) return
    this.#busy = true
    waiting.start()
  }
}
