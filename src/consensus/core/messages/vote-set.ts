import type { Hex } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import type { Commit, Prepare } from '../../../primitives/consensus/vote.ts'

/** Votes by round and sender, counted by block. The first vote of a sender in a round counts. */
export class VoteSet<V extends Prepare | Commit> {
  readonly #rounds = new Map<number, Map<number, V>>()

  /** Adds a vote; returns true when it is the sender's first in its round. */
  add(vote: V): boolean {
    const votes = getOrMake(this.#rounds, vote.round, () => new Map())
    if (votes.has(vote.sender)) return false
    votes.set(vote.sender, vote)
    return true
  }

  /** Returns the votes of a round for one block, by ascending sender. */
  votesFor(round: number, blockHash: Hex): readonly V[] {
    const votes = this.#rounds.get(round)
    if (votes === undefined) return []
    return [...votes.values()].filter(vote => vote.blockHash === blockHash).sort((a, b) => a.sender - b.sender)
  }

  count(round: number, blockHash: Hex): number {
    let count = 0
    for (const vote of this.#rounds.get(round)?.values() ?? []) if (vote.blockHash === blockHash) count++
    return count
  }

  /** Returns the senders of any vote in a round. */
  senders(round: number): Iterable<number> {
    return this.#rounds.get(round)?.keys() ?? []
  }

  /** Returns the rounds with a vote for this block. */
  roundsOf(blockHash: Hex): readonly number[] {
    return [...this.#rounds.keys()].filter(round => this.count(round, blockHash) > 0)
  }

  dropBelow(round: number): void {
    for (const known of this.#rounds.keys()) if (known < round) this.#rounds.delete(known)
  }

  /** Copies the set; later additions do not affect the original. */
  copy(): VoteSet<V> {
    const copy = new VoteSet<V>()
    for (const [round, votes] of this.#rounds) copy.#rounds.set(round, new Map(votes))
    return copy
  }

  /** Number of votes over all rounds. */
  get size(): number {
    let size = 0
    for (const votes of this.#rounds.values()) size += votes.size
    return size
  }
}
