import type { Hex } from '@tandem/base/bytes.ts'
import type { Commit, Prepare } from '../../../src/primitives/consensus/vote.ts'

/**
 * Commits delivered to one process. A quorum of one round for a block it prepared, and so holds, is sufficient: it must decide,
 * whatever round it is in (docs/design/consensus.md#state-machine).
 */
export class QuorumTracker {
  #number = 0
  /** First vote of each sender, by round, which is the one that counts. */
  readonly #votes = new Map<number, Map<number, Hex>>()
  readonly #held = new Set<Hex>()
  #isComplete = false

  /** Records a block it prepared or committed at this height. Returns true once: when a quorum for it is complete. */
  hold({ number, blockHash }: Prepare | Commit, size: number): boolean {
    this.#turnTo(number)
    this.#held.add(blockHash)
    return this.#completes(blockHash, size)
  }

  /** Returns true once, likewise. */
  add({ number, round, sender, blockHash }: Commit, size: number): boolean {
    this.#turnTo(number)
    const votes = this.#votes.get(round) ?? new Map<number, Hex>()
    this.#votes.set(round, votes)
    if (!votes.has(sender)) votes.set(sender, blockHash)
    return this.#completes(blockHash, size)
  }

  #completes(blockHash: Hex, size: number): boolean {
    if (this.#isComplete || !this.#held.has(blockHash)) return false
    for (const votes of this.#votes.values()) {
      const count = [...votes.values()].filter(hash => hash === blockHash).length
      if (3 * count >= 2 * size) this.#isComplete = true
    }
    return this.#isComplete
  }

  #turnTo(number: number): void {
    if (number <= this.#number) return
    this.#number = number
    this.#votes.clear()
    this.#held.clear()
    this.#isComplete = false
  }
}
