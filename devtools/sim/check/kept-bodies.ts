import type { Hex } from '@tandem/base/bytes.ts'
import type { ConsensusMessage } from '../../../src/primitives/consensus/message.ts'
import type { Commit, Prepare } from '../../../src/primitives/consensus/vote.ts'

/**
 * Bodies that one process may not drop: of the block that it committed last and of the one that it prepared last. A neighbour that requests one
 * of them gets it (docs/design/consensus.md#missing-bodies).
 */
export class KeptBodies {
  readonly #votes = new Map<string, Prepare | Commit>()
  /** Time of the last time that a neighbour was sent a body. */
  readonly #sentMs = new Map<string, number>()

  voted(vote: Prepare | Commit): void {
    this.#votes.set(vote.type, vote)
  }

  sent(message: ConsensusMessage, to: string, nowMs: number): void {
    if (message.type === 'body') this.#sentMs.set(`${to} ${message.block.hash}`, nowMs)
  }

  /** Returns true for a block whose body the process must have while this height is open. */
  has(number: number, hash: Hex): boolean {
    return [...this.#votes.values()].some(vote => vote.number === number && vote.blockHash === hash)
  }

  isSent(hash: Hex, to: string, sinceMs: number): boolean {
    return (this.#sentMs.get(`${to} ${hash}`) ?? -1) >= sinceMs
  }
}
