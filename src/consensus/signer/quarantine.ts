import type { QuarantineReason } from '../wal/recovery.ts'

/** Heights others must decide before a node that lost its memory votes again (docs/design/consensus.md#quarantine). */
const HEIGHTS = 2

/**
 * How long a validator that lost its memory only follows: until others have decided two heights above everything it may have voted
 * in. That is at least the head and the watermark it woke up with, every height at which its own vote or seal turns up, and every
 * height that was over before it came: it was learnt from a neighbour that had gone on, so it says nothing of the open one.
 */
export class Quarantine {
  readonly reason: QuarantineReason
  #upTo: number

  constructor(reason: QuarantineReason, head: number, lastSigned: number) {
    this.reason = reason
    this.#upTo = Math.max(head, lastSigned) + HEIGHTS
  }

  /** The last height at which it stays silent, as far as is known. */
  get upTo(): number {
    return this.#upTo
  }

  ownVoteSeen(number: number): void {
    this.#upTo = Math.max(this.#upTo, number + HEIGHTS)
  }

  /** A height was decided by others; `learnt`: before this node came to it. Answers whether the quarantine is over. */
  decided(number: number, learnt: boolean): boolean {
    if (learnt) this.ownVoteSeen(number)
    return number >= this.#upTo
  }
}
