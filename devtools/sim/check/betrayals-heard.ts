import type { SignedMessage } from '../../../src/primitives/consensus/message.ts'
import type { Commit } from '../../../src/primitives/consensus/vote.ts'

/**
 * Statements of Byzantine members that one process accepted at a height. Two different votes of the open round, and a round change that
 * forgets the last commit, are evidence however much else their sender has signed (docs/design/consensus.md#evidence).
 */
export class BetrayalsHeard {
  #number = 0
  readonly #votes = new Map<string, string>()
  /** Highest commit of each sender; null: one of a later round than the open one, which need not be kept. */
  readonly #commits = new Map<number, Commit | null>()

  /** Returns what a statement heard in the open round proves with earlier ones; undefined for nothing. */
  add(message: SignedMessage, open: number): string | undefined {
    if (message.number > this.#number) {
      this.#number = message.number
      this.#votes.clear()
      this.#commits.clear()
    }
    if (message.type === 'proposal') return undefined
    return this.#twice(message, open) ?? this.#forgotten(message, open)
  }

  #twice(message: Exclude<SignedMessage, { type: 'proposal' }>, open: number): string | undefined {
    if (message.round !== open) return undefined
    const { type, number, round, sender } = message
    const place = `${sender} ${type} ${round}`
    const text = type === 'roundChange' ? JSON.stringify(message.prepared) : message.blockHash
    const before = this.#votes.get(place)
    this.#votes.set(place, before ?? text)
    return before === undefined || before === text ? undefined : `signed two of ${type} ${number}/${round}`
  }

  #forgotten(message: Exclude<SignedMessage, { type: 'proposal' }>, open: number): string | undefined {
    const { number, round, sender } = message
    const commit = this.#commits.get(sender)
    if (message.type === 'commit' && commit !== null && round > (commit?.round ?? -1))
      this.#commits.set(sender, round > open ? null : message)
    if (message.type !== 'roundChange' || !commit || round <= commit.round) return undefined
    if ((message.prepared?.round ?? -1) >= commit.round) return undefined
    return `committed in round ${commit.round} of ${number} and forgot it in round ${round}`
  }
}
