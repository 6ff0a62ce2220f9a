import type { RoundChange } from '../../../src/primitives/consensus/vote.ts'

/**
 * Round changes delivered to one process at a height. Where more members than can be faulty are in later rounds it must
 * follow them, at least to the lowest round that so many have reached (docs/design/consensus.md#state-machine).
 */
export class RoundChangesSeen {
  #number = 0
  /** Highest round of each sender. */
  readonly #rounds = new Map<number, number>()

  /** Returns the round the process must be in from here on, at least. */
  add({ number, round, sender }: RoundChange, size: number): number {
    if (number > this.#number) {
      this.#number = number
      this.#rounds.clear()
    }
    this.#rounds.set(sender, Math.max(round, this.#rounds.get(sender) ?? 0))
    const faults = Math.ceil(size / 3) - 1
    return [...this.#rounds.values()].sort((a, b) => b - a)[faults] ?? 0
  }
}
