import type { Hex } from '@tandem/base/bytes.ts'

/** Neighbours on the consensus channels by name, with the validator each proved to be; null: a relay. */
export type ConsensusPeers = ReadonlyMap<string, Hex | null>

/** Validators that each neighbour reaches: where a connection is missing, a node that reaches both ends relays between them. */
export class Reachability {
  readonly #reach = new Map<string, ReadonlySet<Hex>>()

  /** Returns the validators that these neighbours announced. */
  through(neighbours: readonly string[]): readonly Hex[] {
    return neighbours.flatMap(name => [...(this.#reach.get(name) ?? [])])
  }

  /** Records the connections a neighbour announced. */
  heard(neighbour: string, validators: readonly Hex[]): void {
    this.#reach.set(neighbour, new Set(validators))
  }

  forget(neighbour: string): void {
    this.#reach.delete(neighbour)
  }

  /** Returns the neighbours to which a statement of `author`, received from `from`, is relayed. */
  targets(author: Hex, from: string, consensusPeers: ConsensusPeers): readonly string[] {
    const targets: string[] = []
    for (const [name, validator] of consensusPeers) {
      if (name === from || validator === author) continue
      if (!this.#reach.get(name)?.has(author)) targets.push(name)
    }
    return targets
  }

  /** Returns those of these validators that are neighbours, or neighbours of one. */
  reachable(members: readonly Hex[], self: Hex | null, consensusPeers: ConsensusPeers): readonly Hex[] {
    const near = new Set<Hex | null>(consensusPeers.values())
    const names = [...consensusPeers.keys()]
    return members.filter(
      member => member !== self && (near.has(member) || names.some(name => this.#reach.get(name)?.has(member))),
    )
  }
}
