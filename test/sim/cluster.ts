import { faultsOf } from '../../src/consensus/committee.ts'
import type { ConsensusMessage } from '../../src/consensus/messages.ts'
import { createRandom, type Random } from '../support/consensus/random.ts'
import { Byzantine } from './byzantine.ts'
import { EventQueue } from './event-queue.ts'
import { SimNode } from './node.ts'
import { GENESIS, Violation, World } from './world.ts'

export interface Scenario {
  readonly seed: number
  readonly size: number
  readonly byzantine: number
  /** Virtual time with faults; after it everything works and all must advance. */
  readonly faultsMs: number
  readonly recoverHeights: number
  readonly recoverMs: number
}

export interface Outcome {
  readonly heights: number
  readonly healedMs: number
  readonly events: number
  readonly maxRound: number
  readonly maxHeld: number
  /** Same seed, same trace. */
  readonly trace: string
}

interface Weather {
  loss: number
  duplicate: number
  delayMs: number
  /** Group of each member; messages pass inside a group only. */
  groups: readonly number[]
}

/** A committee in one thread on one clock; everything that happens follows from the seed. */
export const runCluster = (scenario: Scenario): Outcome => new Cluster(scenario).run()

class Cluster {
  readonly #scenario: Scenario
  readonly #random: Random
  readonly #queue = new EventQueue()
  readonly #world: World
  readonly #nodes = new Map<number, SimNode>()
  readonly #byzantine = new Map<number, Byzantine>()
  readonly #weather: Weather
  readonly #crashRate: number
  #healed = false
  #trace = 0
  #maxRound = 0
  #maxHeld = 0

  constructor(scenario: Scenario) {
    this.#scenario = scenario
    this.#random = createRandom(scenario.seed)
    const { size, byzantine } = scenario
    const first = this.#random.below(size)
    const bad = new Set(Array.from({ length: byzantine }, (_, index) => (first + index) % size))
    this.#world = new World(size, bad)
    // Fault rates differ from seed to seed: rare schedules need rare weather.
    this.#weather = {
      loss: this.#random.chance(0.3) ? 0 : this.#random.next() * 0.3,
      duplicate: this.#random.next() * 0.3,
      delayMs: 2 + this.#random.next() ** 3 * 300,
      groups: new Array(size).fill(0),
    }
    this.#crashRate = this.#random.chance(0.3) ? 0 : this.#random.next()
    const network = {
      broadcast: (from: number, message: ConsensusMessage) => {
        for (let to = 0; to < size; to++) if (to !== from) this.#post(from, to, message)
      },
      send: (from: number, to: number, message: ConsensusMessage) => this.#post(from, to, message),
    }
    for (let index = 0; index < size; index++) {
      const random = createRandom(scenario.seed * 1_000 + index)
      if (bad.has(index)) this.#byzantine.set(index, new Byzantine(index, this.#world, network, random))
      else this.#nodes.set(index, new SimNode(index, this.#world, this.#queue, network, random))
    }
  }

  run(): Outcome {
    const { faultsMs, recoverHeights, recoverMs } = this.#scenario
    for (const node of this.#nodes.values()) node.start()
    for (const bad of this.#byzantine.values()) bad.onHeight(1, GENESIS)
    this.#queue.at(50, () => this.#trouble())
    while (this.#queue.nowMs < faultsMs) this.#advance()
    this.#heal()
    const target = Math.max(...this.#honest().map(node => node.number)) + recoverHeights
    const startMs = this.#queue.nowMs
    while (this.#honest().some(node => node.number < target)) {
      if (this.#queue.nowMs - startMs > recoverMs)
        throw new Violation(`no recovery: ${this.#picture()}, wanted ${target}`)
      this.#advance()
    }
    return {
      heights: target,
      healedMs: Math.round(this.#queue.nowMs - startMs),
      events: this.#queue.count,
      maxRound: this.#maxRound,
      maxHeld: this.#maxHeld,
      trace: this.#trace.toString(16),
    }
  }

  #advance(): void {
    if (!this.#queue.next()) throw new Violation('nothing happens any more')
    if (this.#queue.count % 64 !== 0) return
    for (const node of this.#nodes.values()) {
      this.#maxRound = Math.max(this.#maxRound, node.round)
      this.#maxHeld = Math.max(this.#maxHeld, node.held)
    }
  }

  #post(from: number, to: number, message: ConsensusMessage): void {
    const { loss, duplicate, delayMs, groups } = this.#weather
    if (groups[from] !== groups[to] || this.#random.chance(loss)) return
    const copies = this.#random.chance(duplicate) ? 2 : 1
    for (let copy = 0; copy < copies; copy++) {
      const atMs = this.#queue.nowMs + 1 + this.#random.next() * delayMs
      this.#queue.at(atMs, () => this.#deliver(from, to, message))
    }
  }

  #deliver(from: number, to: number, message: ConsensusMessage): void {
    this.#trace =
      (Math.imul(this.#trace, 31) + from * 64 + to * 8 + message.type.length + Math.floor(this.#queue.nowMs)) >>> 0
    const node = this.#nodes.get(to)
    const before = node?.number ?? 0
    node?.receive(message, from)
    this.#byzantine.get(to)?.receive(message)
    if (node === undefined || node.number === before) return
    for (const bad of this.#byzantine.values()) bad.onHeight(node.number + 1, node.chain.at(-1)!.block.hash)
  }

  /** Every while something breaks: a member loses power, or the network splits. */
  #trouble(): void {
    if (this.#healed) return
    const random = this.#random
    this.#queue.at(this.#queue.nowMs + 20 + random.next() * 400, () => this.#trouble())
    for (const bad of this.#byzantine.values()) {
      const ahead = this.#honest().toSorted((a, b) => b.number - a.number)[0]
      if (ahead) bad.onHeight(ahead.number + 1, ahead.chain.at(-1)?.block.hash ?? GENESIS)
    }
    if (random.chance(this.#crashRate * 0.4)) {
      const node = random.pick(this.#honest())
      node.crash()
      this.#queue.at(this.#queue.nowMs + random.next() ** 2 * 2_000, () => {
        if (!node.isUp) node.start()
      })
    }
    if (random.chance(0.1)) {
      this.#weather.groups = this.#weather.groups.map(() => random.below(2))
      this.#queue.at(this.#queue.nowMs + random.next() * 3_000, () => this.#join())
    }
  }

  #join(): void {
    this.#weather.groups = this.#weather.groups.map(() => 0)
  }

  #heal(): void {
    this.#healed = true
    this.#join()
    this.#weather.loss = 0
    this.#weather.duplicate = 0
    this.#weather.delayMs = 20
    for (const node of this.#nodes.values()) if (!node.isUp) node.start()
  }

  #honest(): readonly SimNode[] {
    return [...this.#nodes.values()]
  }

  #picture(): string {
    return this.#honest()
      .map(node => `${node.index}@${node.number}/${node.round}`)
      .join(' ')
  }
}

export const mostFaulty = (size: number): number => faultsOf(size)
