import { LIMITS } from '../../config/limits.ts'
import type { DecidedMessage } from '../../primitives/consensus/message.ts'
import type { PeerId } from '../../primitives/peer-id.ts'
import type { ExecutionPort } from '../ports.ts'

type Send = (to: PeerId, message: DecidedMessage) => void

/** Answers neighbours that are behind with whole heights from the database: one at a time for each, a bounded number in all. */
export class DecidedSender {
  readonly #execution: ExecutionPort
  readonly #send: Send
  readonly #answering = new Set<PeerId>()

  constructor(execution: ExecutionPort, send: Send) {
    this.#execution = execution
    this.#send = send
  }

  /** Neighbours being answered. */
  get size(): number {
    return this.#answering.size
  }

  /** Sends a decided height. Who asks again meanwhile, or when too many do at once, asks again later by itself. */
  async sendDecided(to: PeerId, number: number): Promise<void> {
    if (this.#answering.has(to) || this.#answering.size >= LIMITS.consensus.answers) return
    this.#answering.add(to)
    try {
      const decided = await this.#execution.decided(number)
      if (decided !== undefined) this.#send(to, { type: 'decided', ...decided })
    } finally {
      this.#answering.delete(to)
    }
  }
}
