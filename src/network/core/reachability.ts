import type { Hex } from '../../util/bytes.ts'

/** Names of neighbours on the consensus channels, with the validator each proved to be; null: a relay the operator trusts. */
export type ConsensusPeers = ReadonlyMap<string, Hex | null>

/**
 * Which validators each neighbour reaches by itself. In a full mesh nobody relays anything; where a connection is missing,
 * whoever reaches both ends passes on what one end says.
 */
export class Reachability {
  readonly #reach = new Map<string, ReadonlySet<Hex>>()

  /** What a neighbour says it is connected to. */
  heard(neighbour: string, validators: readonly Hex[]): void {
    this.#reach.set(neighbour, new Set(validators))
  }

  forget(neighbour: string): void {
    this.#reach.delete(neighbour)
  }

  /** To whom a statement of `author` that came from `from` is passed on. */
  targets(author: Hex, from: string, consensusPeers: ConsensusPeers): readonly string[] {
    const targets: string[] = []
    for (const [name, validator] of consensusPeers) {
      if (name === from || validator === author) continue
      if (!this.#reach.get(name)?.has(author)) targets.push(name)
    }
    return targets
  }

  /** How many of these validators are neighbours, or neighbours of one. */
  reachable(members: readonly Hex[], self: Hex | null, consensusPeers: ConsensusPeers): number {
    const near = new Set<Hex | null>(consensusPeers.values())
    const names = [...consensusPeers.keys()]
    return members.filter(
      member => member !== self && (near.has(member) || names.some(name => this.#reach.get(name)?.has(member))),
    ).length
  }
}
