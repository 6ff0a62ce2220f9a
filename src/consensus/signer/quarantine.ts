import type { Header } from '../../primitives/header.ts'
import type { QuarantineReason } from '../wal/recovery.ts'
import { isDecidedAfter } from './start-gate.ts'

/** Heights that others must decide before a node that lost its log votes again (docs/design/consensus.md#quarantine). */
const HEIGHTS = 2

/**
 * Duration for which a validator that lost its log only follows: until others have decided two heights above every height it may
 * have voted in. Those are at least the head and the watermark at start, every height in which its own vote or seal appears, and
 * every height decided before this node opened it: such a height came from a neighbour that had moved on, so it says nothing about
 * the open one. And the last of them must have been decided after the quarantine began: old messages can be sent again.
 */
export class Quarantine {
  readonly reason: QuarantineReason
  readonly #sinceMs: number
  #upTo: number

  constructor(reason: QuarantineReason, head: number, lastSigned: number, nowMs: number) {
    this.reason = reason
    this.#sinceMs = nowMs
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
  decided({ number, timestamp }: Pick<Header, 'number' | 'timestamp'>, learnt: boolean): boolean {
    if (learnt) this.ownVoteSeen(number)
    return number >= this.#upTo && isDecidedAfter(timestamp, this.#sinceMs)
  }
}
