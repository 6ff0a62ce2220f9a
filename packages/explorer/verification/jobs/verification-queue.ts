import { FairQueue } from '@tandem/base/async/fair-queue.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import { refuseVerification } from '../verification-error.ts'

interface QueueLimits {
  readonly queued: number
  readonly queuedPerClient: number
}

/** Runs one compilation at a time; clients take turns, and each has a few places. */
export class VerificationQueue {
  readonly #waiting: FairQueue<() => Promise<void>>
  #isRunning = false

  constructor({ queued, queuedPerClient }: QueueLimits = EXPLORER_LIMITS.verification) {
    this.#waiting = new FairQueue({ total: queued, owner: queuedPerClient })
  }

  /** Throws QUEUE_FULL. `work` must not throw. */
  add(client: string, work: () => Promise<void>): void {
    const refused = this.#waiting.push(client, work)
    if (refused !== undefined)
      throw refuseVerification(
        'QUEUE_FULL',
        refused.full === 'owner'
          ? `you have ${this.#waiting.lengthOf(client)} submissions waiting; come again when one is done`
          : 'too many submissions wait; come again in a minute',
      )
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    const take = () => this.#waiting.shift(() => true)
    for (let next = take(); next !== undefined; next = take()) await next.item()
    this.#isRunning = false
  }
}
