import type { RoundChange } from '../../primitives/consensus/vote.ts'

/**
 * The round changes that one process was given at a height. Where more members than can be faulty are in later rounds it must
 * follow them, at least to the lowest that so many have reached (docs/design/consensus.md#state-machine).
 */
export class RoundChangesSeen {
  #number = 0
  /** Highest round of each sender. */
  readonly #rounds = new Map<number, number>()

  /** The round to be in from here on, at least. */
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
