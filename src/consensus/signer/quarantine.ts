import type { QuarantineReason } from '../wal/recovery.ts'

/** Heights that others must decide before a node that lost its log votes again (docs/design/consensus.md#quarantine). */
const HEIGHTS = 2

/**
 * Duration for which a validator that lost its log only follows: until others have decided two heights above every height it may
 * have voted in. Those are at least the head and the watermark at start, every height in which its own vote or seal appears, and
 * every height decided before this node opened it: such a height came from a neighbour that had moved on, so it says nothing about
 * the open one.
 */
export class Quarantine {
  readonly reason: QuarantineReason
  #upTo: number

  constructor(reason: QuarantineReason, head: number, lastSigned: number) {
    this.reason = reason
    this.#upTo = Math.max(head, lastSigned) + HEIGHTS
  }

  /** Last height without a vote, as far as known. */
  get upTo(): number {
    return this.#upTo
  }

  ownVoteSeen(number: number): void {
    this.#upTo = Math.max(this.#upTo, number + HEIGHTS)
  }

  /** Handles a height decided by others; `learnt`: before this node opened it. Returns true when the quarantine is over. */
  decided(number: number, learnt: boolean): boolean {
    if (learnt) this.ownVoteSeen(number)
    return number >= this.#upTo
  }
}
