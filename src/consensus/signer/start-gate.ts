import type { Hex } from '@tandem/base/bytes.ts'
import { CONSENSUS_LIMITS } from '../../config/limits/consensus.ts'
import { type ConsensusMessage, messageHeight } from '../../primitives/consensus/message.ts'
import { quorumOf } from '../../rules/council/quorum.ts'
import type { Committee } from '../committee.ts'
import type { Speaker } from '../ports.ts'

/**
 * Returns true when a block was surely decided after `sinceMs` on this clock: honest members vote for no block that is far ahead of their
 * clocks. A message of an earlier height, sent again by others, proves nothing about the chain of now.
 */
export const isDecidedAfter = (timestamp: number, sinceMs: number): boolean =>
  timestamp * 1_000 > sinceMs + CONSENSUS_LIMITS.freshMs

interface StartGateOptions {
  readonly isOpen: boolean
  readonly self: Hex | undefined
  readonly trusts: boolean
  readonly nowMs: number
}

/** Holds back signatures after a start until a quorum reports no later height or a block was decided (docs/design/consensus.md#first-signature). */
export class StartGate {
  readonly #sinceMs: number
  /** This node's key, which neighbours say to reach as well; it is counted once. */
  readonly #self: Hex | undefined
  /** True by the operator's assurance: a neighbour also reports for the members that it reaches. */
  readonly #trusts: boolean
  readonly #level = new Set<Hex>()
  #isOpen: boolean

  constructor({ isOpen, self, trusts, nowMs }: StartGateOptions) {
    this.#isOpen = isOpen
    this.#self = self
    this.#trusts = trusts
    this.#sinceMs = nowMs
  }

  /** Handles a message while height `open` is open; votes of others are verified before. */
  heard(message: ConsensusMessage, speaker: Speaker | undefined, { members }: Committee, open: number): void {
    if (this.#isOpen || speaker === undefined || messageHeight(message) > open) return
    const reported = new Set([...speaker.speaksFor, ...(this.#trusts ? speaker.reaches : [])])
    if (this.#self !== undefined) reported.delete(this.#self)
    if (message.type === 'status') for (const member of reported) this.#level.add(member)
    const author = 'sender' in message ? members[message.sender] : undefined
    if (author !== undefined && reported.has(author)) this.#level.add(author)
  }

  decided(timestamp: number): void {
    if (isDecidedAfter(timestamp, this.#sinceMs)) this.#open()
  }

  /** Returns true when a member of this committee may sign. */
  isOpenFor({ members }: Committee): boolean {
    if (!this.#isOpen && members.filter(member => this.#level.has(member)).length >= quorumOf(members.length) - 1)
      this.#open()
    return this.#isOpen
  }

  #open(): void {
    this.#isOpen = true
    this.#level.clear()
  }
}
