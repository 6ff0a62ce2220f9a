import { CONSENSUS_LIMITS } from '../../config/limits/consensus.ts'
import type { DecidedMessage } from '../../primitives/consensus/message.ts'
import type { PeerId } from '../../primitives/peer-id.ts'
import type { ExecutionPort } from '../ports.ts'

type Send = (to: PeerId, message: DecidedMessage) => void

/** Sends decided heights from the database to neighbours that are behind: one at a time for each, a bounded number in all. */
export class DecidedSender {
  readonly #execution: ExecutionPort
  readonly #send: Send
  readonly #answering = new Set<PeerId>()

  constructor(execution: ExecutionPort, send: Send) {
    this.#execution = execution
    this.#send = send
  }

  /** Number of neighbours being served. */
  get size(): number {
    return this.#answering.size
  }

  /** Sends a decided height. A request that arrives meanwhile, or when too many are under way, is dropped: the neighbour repeats it. */
  async sendDecided(to: PeerId, number: number): Promise<void> {
    if (this.#answering.has(to) || this.#answering.size >= CONSENSUS_LIMITS.answers) return
    this.#answering.add(to)
    try {
      const decided = await this.#execution.decided(number)
      if (decided !== undefined) this.#send(to, { type: 'decided', ...decided })
    } finally {
      this.#answering.delete(to)
    }
  }
}
