import type { Block } from '../../primitives/block.ts'
import { minTimestampStepSeconds } from '../../rules/header.ts'

/* Earliest time and timestamp of a block (docs/design/consensus.md#pacing), in whole seconds with the step of rules/header.ts. */

/** Instant mode: a block is made as soon as there is a transaction, and none otherwise. */
export const isInstantMode = (blockTimeMs: number): boolean => blockTimeMs === 0

/** Timestamp of a block proposed at `nowMs`, unix seconds. */
export const proposalTimestamp = (blockTimeMs: number, parentTimestamp: number, nowMs: number): number =>
  Math.max(parentTimestamp + minTimestampStepSeconds(blockTimeMs), Math.floor(nowMs / 1000))

/**
 * Wall-clock time from which the next block may be proposed. Block times of whole seconds align to the second through the
 * parent's timestamp, so delays never accumulate; others use a wall-clock grid of the block time, since the parent's timestamp
 * is too coarse. `lastSlotMs` is the last slot this node opened (0 after start).
 */
export const earliestProposalMs = (blockTimeMs: number, parentTimestamp: number, lastSlotMs: number): number => {
  const byTimestamp = (parentTimestamp + minTimestampStepSeconds(blockTimeMs)) * 1000
  if (isInstantMode(blockTimeMs)) return 0
  if (blockTimeMs % 1000 === 0) return byTimestamp
  const nextSlot = (Math.floor(lastSlotMs / blockTimeMs) + 1) * blockTimeMs
  return Math.max(byTimestamp, nextSlot)
}

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
