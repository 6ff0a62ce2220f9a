import { asBuffer, type Hex } from '@tandem/base/bytes.ts'
import { NETWORK_LIMITS } from '../../../src/config/limits/network.ts'
import type { Speaker } from '../../../src/consensus/ports.ts'
import { Reachability } from '../../../src/network/core/reachability.ts'
import type { Envelope } from './envelope.ts'

interface TopologyOptions {
  /** Members, without relays. */
  readonly size: number
  /** 0: all members are neighbours of each other. Otherwise each has one relay as its only neighbour, and relays have each other. */
  readonly relays: number
  readonly addresses: readonly Hex[]
  /** Returns true when the other node runs and nothing separates the two. */
  readonly isConnected: (one: number, other: number) => boolean
}

/** Connections of nodes, and what each neighbour says to reach (docs/design/network.md). Relays are numbered after the members. */
export class Topology {
  readonly #options: TopologyOptions
  readonly #neighbours: readonly (readonly number[])[]

  constructor(options: TopologyOptions) {
    this.#options = options
    const nodes = Array.from({ length: options.size + options.relays }, (_, node) => node)
    this.#neighbours = nodes.map(node => nodes.filter(other => other !== node && this.#areNeighbours(node, other)))
  }

  isRelay(node: number): boolean {
    return node >= this.#options.size
  }

  neighbours(node: number): readonly number[] {
    return this.#neighbours[node] ?? []
  }

  #areNeighbours(one: number, other: number): boolean {
    const { size, relays } = this.#options
    const relayOf = (node: number) => (this.isRelay(node) ? undefined : size + (node % relays))
    if (relays === 0 || (this.isRelay(one) && this.isRelay(other))) return true
    return relayOf(one) === other || relayOf(other) === one
  }

  /** Returns the members that a node reaches, through relays as well. */
  reached(node: number): readonly Hex[] {
    const own = this.#options.addresses[node]
    const all = this.#connected(node).flatMap(near => (this.isRelay(near) ? this.#reachedBy(near, node) : [near]))
    return [...new Set(this.#addressesOf(all))].filter(address => address !== own)
  }

  /** Returns what a neighbour of `node` speaks for: a member for itself, a relay for the members that named it, and its own members' for all. */
  speaker(node: number, neighbour: number): Speaker {
    if (!this.isRelay(neighbour)) return { speaksFor: this.#addressesOf([neighbour]), reaches: [] }
    const reaches = this.#addressesOf(this.#reachedBy(neighbour, node))
    return { speaksFor: reaches, reaches }
  }

  /** Returns the neighbours to which a relay passes a statement of a member: the rule that ships. */
  targets(relay: number, author: Hex, from: number): readonly number[] {
    const reachability = new Reachability()
    const neighbours = new Map<string, Hex | null>()
    for (const near of this.#connected(relay)) {
      neighbours.set(String(near), this.isRelay(near) ? null : (this.#options.addresses[near] as Hex))
      reachability.heard(String(near), this.isRelay(near) ? this.#addressesOf(this.#reachedBy(near, relay)) : [])
    }
    return reachability.targets(author, String(from), neighbours).map(Number)
  }

  #connected(node: number): readonly number[] {
    return this.neighbours(node).filter(near => this.#options.isConnected(node, near))
  }

  /** Members that a relay announces: to other relays its own, to members those of other relays as well. */
  #reachedBy(relay: number, listener: number): readonly number[] {
    const near = this.#connected(relay)
    const direct = near.filter(node => !this.isRelay(node))
    if (this.isRelay(listener)) return direct
    return [...direct, ...near.filter(node => this.isRelay(node)).flatMap(other => this.#reachedBy(other, relay))]
  }

  #addressesOf(nodes: readonly number[]): readonly Hex[] {
    return nodes.map(node => this.#options.addresses[node] as Hex)
  }
}

/** Statements that one process of a relay passed on, with their times: the same bytes not again for a while. */
export class RelayedStatements {
  readonly #times = new Map<string, number>()

  /** Returns true when the statement may be passed on now. */
  add({ bytes }: Envelope, nowMs: number): boolean {
    const key = asBuffer(bytes).toString('latin1')
    if (nowMs - (this.#times.get(key) ?? Number.NEGATIVE_INFINITY) < NETWORK_LIMITS.relayAgainMs) return false
    this.#times.set(key, nowMs)
    return true
  }
}
