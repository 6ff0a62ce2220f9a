import type { Block } from '../../primitives/block.ts'
import { earliestProposalMs, isInstantMode } from './block-time.ts'

/** Decides when heights begin: on the grid of the block time, or in instant mode on a request. */
export class Pacemaker {
  readonly #blockTimeMs: number
  #lastMs = 0
  #dueMs = 0
  /** Instant mode: a request arrived after the last build began; the last block had transactions. */
  #requested = false
  #lastHadTransactions = true

  constructor(blockTimeMs: number) {
    this.#blockTimeMs = blockTimeMs
  }

  /** Returns the wall-clock time from which the height after a block of this timestamp (unix seconds) may propose; null: on request. */
  next(parentTimestamp: number, nowMs: number): number | null {
    const instant = isInstantMode(this.#blockTimeMs)
    const earliestMs = instant ? null : earliestProposalMs(this.#blockTimeMs, parentTimestamp, this.#lastSlot(nowMs))
    this.#lastMs = Math.max(earliestMs ?? 0, nowMs)
    if (earliestMs !== null) this.#dueMs = earliestMs
    return earliestMs
  }

  /**
   * Returns the slot of the previous height. A height that others decided early has the slot nearest to now: otherwise each learnt
   * or reopened height would move this node one slot further behind the others, until its proposals come after their timeout.
   */
  #lastSlot(nowMs: number): number {
    return Math.min(this.#lastMs, Math.round(nowMs / this.#blockTimeMs) * this.#blockTimeMs)
  }

  /** Instant mode: requests a block to be proposed at `dueMs`, or as soon as it is built if that is past. */
  request(dueMs: number): void {
    this.#requested = true
    this.#dueMs = dueMs
  }

  /** Marks the start of a build; returns the time from which the block may be proposed. */
  building(): number {
    this.#requested = false
    return this.#dueMs
  }

  committed(block: Block): void {
    this.#lastHadTransactions = block.transactions.length > 0
  }

  /** Instant mode: returns false when a request for remaining transactions is pointless. After an empty block only a request counts. */
  get mayWantBlock(): boolean {
    return isInstantMode(this.#blockTimeMs) && (this.#lastHadTransactions || this.#requested)
  }
}
