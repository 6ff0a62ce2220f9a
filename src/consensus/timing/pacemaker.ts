import type { Block } from '../../primitives/block.ts'
import { earliestProposalMs, isInstantMode } from './block-time.ts'

/** When this node's heights may begin: on the grid of the block time, or, in instant mode, when somebody wants a block. */
export class Pacemaker {
  readonly #blockTimeMs: number
  #lastMs = 0
  #dueMs = 0
  /** Instant mode: a request came after the last build began; the last block had transactions. */
  #requested = false
  #fruitful = true

  constructor(blockTimeMs: number) {
    this.#blockTimeMs = blockTimeMs
  }

  /** Wall time from which the height after a block of this timestamp (unix seconds) may propose; null waits for a request. */
  next(parentTimestamp: number, nowMs: number): number | null {
    const instant = isInstantMode(this.#blockTimeMs)
    const earliestMs = instant ? null : earliestProposalMs(this.#blockTimeMs, parentTimestamp, this.#lastSlot(nowMs))
    this.#lastMs = Math.max(earliestMs ?? 0, nowMs)
    if (earliestMs !== null) this.#dueMs = earliestMs
    return earliestMs
  }

  /**
   * The slot of the height before. A height that others decided before its slot came had theirs, the one nearest to now: else each
   * one learnt, or opened again, would put this node a slot further behind the others, until its proposals come after their timeout.
   */
  #lastSlot(nowMs: number): number {
    return Math.min(this.#lastMs, Math.round(nowMs / this.#blockTimeMs) * this.#blockTimeMs)
  }

  /** Instant mode: a block that is proposed at `dueMs` or, if that is over, as soon as it is built. */
  request(dueMs: number): void {
    this.#requested = true
    this.#dueMs = dueMs
  }

  /** A block of this height is begun: answers when it may be proposed. */
  building(): number {
    this.#requested = false
    return this.#dueMs
  }

  committed(block: Block): void {
    this.#fruitful = block.transactions.length > 0
  }

  /** Instant mode: whether it is worth asking for transactions left. After an empty block only a request is. */
  get mayWantBlock(): boolean {
    return isInstantMode(this.#blockTimeMs) && (this.#fruitful || this.#requested)
  }
}
