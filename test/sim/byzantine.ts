import { proposerIndex, quorumOf } from '../../src/consensus/committee.ts'
import { highestPrepared, justificationFrom } from '../../src/consensus/core/justification.ts'
import type { ConsensusMessage, SignedMessage } from '../../src/consensus/messages.ts'
import type { Block } from '../../src/primitives/block.ts'
import type { Prepare, RoundChange } from '../../src/primitives/vote.ts'
import type { Hex } from '../../src/util/bytes.ts'
import type { Random } from '../support/consensus/random.ts'
import type { SimNetwork } from './node.ts'
import type { World } from './world.ts'

/** A member that holds a key and no scruples: it votes for everything, to whom it likes, and hides what it knows. */
export class Byzantine {
  readonly index: number
  readonly #world: World
  readonly #network: SimNetwork
  readonly #random: Random
  readonly #seen = new Map<number, Map<Hex, Block>>()
  readonly #changes = new Map<string, Map<number, RoundChange>>()
  readonly #prepares = new Map<string, Map<number, Prepare>>()
  readonly #done = new Set<string>()

  constructor(index: number, world: World, network: SimNetwork, random: Random) {
    this.index = index
    this.#world = world
    this.#network = network
    this.#random = random
  }

  receive(message: ConsensusMessage): void {
    // Two of them answering each other would never end.
    if (!this.#world.isSigned(message) || ('sender' in message && this.#world.byzantine.has(message.sender))) return
    switch (message.type) {
      case 'proposal':
        this.#blocksOf(message.number).set(message.block.hash, message.block)
        this.#voteForAnything(message.number, message.round)
        break
      case 'prepare':
        this.#collect(this.#prepares, `${message.number} ${message.round} ${message.blockHash}`, message)
        if (this.#random.chance(0.2)) this.#voteForAnything(message.number, message.round)
        break
      case 'roundChange':
        this.#collect(this.#changes, `${message.number} ${message.round}`, message)
        this.#pushRound(message.number, message.round)
        break
      case 'decided':
        this.#proposeTwo(message.block.header.number + 1, message.block.hash)
        break
      case 'status':
        if (this.#random.chance(0.05)) this.#sayRoundChange(message.number, message.round + 1 + this.#random.below(20))
        break
      default:
        break
    }
  }

  /** Told of a height that opens; as its proposer it offers two blocks, an invalid one, or none. */
  onHeight(number: number, parentHash: Hex): void {
    this.#proposeTwo(number, parentHash)
  }

  #proposeTwo(number: number, parentHash: Hex): void {
    if (proposerIndex(this.#world.size, number, 0) !== this.index || !this.#once(`propose ${number}`)) return
    const blocks = [true, this.#random.chance(0.7)].map(valid =>
      this.#world.makeBlock(number, parentHash, this.index, valid),
    )
    for (const to of this.#others()) {
      if (this.#random.chance(0.15)) continue
      const block = this.#random.pick(blocks)
      this.#blocksOf(number).set(block.hash, block)
      const proposal = { type: 'proposal', number, round: 0, block, roundChanges: [], prepares: [] } as const
      this.#network.send(this.index, to, this.#world.sign(proposal, this.index))
    }
  }

  #voteForAnything(number: number, round: number): void {
    for (const blockHash of this.#blocksOf(number).keys()) {
      for (const to of this.#others()) {
        for (const type of ['prepare', 'commit'] as const) {
          if (this.#random.chance(0.4)) this.#send(to, this.#world.sign({ type, number, round, blockHash }, this.index))
        }
      }
    }
  }

  #pushRound(number: number, round: number): void {
    if (this.#random.chance(0.5)) this.#sayRoundChange(number, round)
    if (proposerIndex(this.#world.size, number, round) !== this.index) return
    const changes = [...(this.#changes.get(`${number} ${round}`)?.values() ?? [])]
    const quorum = quorumOf(this.#world.size)
    const own = this.#roundChange(number, round, null)
    for (let offer = 0; offer < 2; offer++) {
      const chosen = this.#pickQuorum(changes, own, quorum)
      if (chosen.length >= quorum) this.#proposeOn(number, round, chosen)
    }
  }

  /** Prefers those with nothing prepared: the lie that could fork the chain. */
  #pickQuorum(changes: readonly RoundChange[], own: RoundChange, quorum: number): readonly RoundChange[] {
    const hiding = changes
      .filter(change => change.sender !== this.index)
      .sort((a, b) => (a.prepared?.round ?? -1) - (b.prepared?.round ?? -1))
    return [own, ...hiding].slice(0, quorum)
  }

  #proposeOn(number: number, round: number, changes: readonly RoundChange[]): void {
    const prepared = highestPrepared(changes)
    if (prepared === 'contradictory') return
    const known = [...this.#blocksOf(number).values()]
    const parentHash = known[0]?.header.parentHash
    const forced = prepared === null ? undefined : this.#blocksOf(number).get(prepared.blockHash)
    const valid = this.#random.chance(0.8)
    const fresh = parentHash === undefined ? undefined : this.#world.makeBlock(number, parentHash, this.index, valid)
    const block = prepared === null || this.#random.chance(0.3) ? fresh : forced
    if (block === undefined) return
    const proposal = { type: 'proposal', number, round, block, ...justificationFrom(changes) } as const
    const signed = this.#world.sign(proposal, this.index)
    for (const to of this.#others()) if (this.#random.chance(0.6)) this.#send(to, signed)
  }

  #sayRoundChange(number: number, round: number): void {
    const prepared = this.#random.chance(0.3) ? this.#anyPrepared(number, round) : null
    const change = this.#roundChange(number, round, prepared)
    for (const to of this.#others()) if (this.#random.chance(0.6)) this.#send(to, change)
  }

  #anyPrepared(number: number, below: number): readonly Prepare[] | null {
    for (const [key, votes] of this.#prepares) {
      const prepares = [...votes.values()]
      if (!key.startsWith(`${number} `) || prepares.length < quorumOf(this.#world.size)) continue
      if (prepares[0]!.round < below) return prepares
    }
    return null
  }

  #roundChange(number: number, round: number, prepares: readonly Prepare[] | null): RoundChange {
    const first = prepares?.[0]
    const prepared = first === undefined ? null : { round: first.round, blockHash: first.blockHash }
    const unsigned = { type: 'roundChange', number, round, prepared, prepares: prepares ?? [] } as const
    return this.#world.sign(unsigned, this.index) as RoundChange
  }

  #send(to: number, message: SignedMessage): void {
    if (message.type === 'prepare')
      this.#collect(this.#prepares, `${message.number} ${message.round} ${message.blockHash}`, message)
    this.#network.send(this.index, to, message)
  }

  #collect<M extends { readonly sender: number }>(where: Map<string, Map<number, M>>, key: string, message: M): void {
    const held = where.get(key) ?? new Map<number, M>()
    held.set(message.sender, message)
    where.set(key, held)
  }

  #blocksOf(number: number): Map<Hex, Block> {
    const blocks = this.#seen.get(number) ?? new Map<Hex, Block>()
    this.#seen.set(number, blocks)
    return blocks
  }

  #once(what: string): boolean {
    if (this.#done.has(what)) return false
    this.#done.add(what)
    return true
  }

  #others(): readonly number[] {
    return Array.from({ length: this.#world.size }, (_, index) => index).filter(index => index !== this.index)
  }
}
