import { FairQueue } from '@tandem/base/async/fair-queue.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import { refuseVerification } from '../verification-error.ts'

interface QueueLimits {
  readonly queued: number
  readonly queuedPerClient: number
}

/** Runs one compilation at a time; clients take turns, and each has a few places. */
export class VerificationQueue {
  readonly #limits: QueueLimits
  readonly #waiting = new FairQueue<() => Promise<void>>()
  #queued = 0
  #isRunning = false

  constructor(limits: QueueLimits = EXPLORER_LIMITS.verification) {
    this.#limits = limits
  }

  /** Throws QUEUE_FULL. `work` must not throw. */
  add(client: string, work: () => Promise<void>): void {
    const own = this.#waiting.lengthOf(client)
    if (own >= this.#limits.queuedPerClient)
      throw refuseVerification('QUEUE_FULL', `you have ${own} submissions waiting; come again when one is done`)
    if (this.#queued >= this.#limits.queued)
      throw refuseVerification('QUEUE_FULL', 'too many submissions wait; come again in a minute')
    this.#waiting.push(client, work)
    this.#queued++
    void this.#run()
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    for (let next = this.#take(); next !== undefined; next = this.#take()) await next()
    this.#isRunning = false
  }

  #take(): (() => Promise<void>) | undefined {
    const next = this.#waiting.shift(() => true)
    if (next === undefined) return undefined
    this.#queued--
    return next.item
  }
}
