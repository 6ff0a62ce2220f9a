import { createRandom, type Random } from '@tandem/base/random.ts'
import type { LinkConditions } from '../plan/plan.ts'
import type { EventQueue } from './event-queue.ts'

interface SimTraffic {
  sent: number
  lost: number
  duplicated: number
}

const LONGEST_STUCK_MS = 5_000
const MIN_DELAY_MS = 0.3

/**
 * Message delivery: each link loses, duplicates and delays by its own random stream, so that an additional message elsewhere changes
 * nothing here.
 */
export class SimNetwork<Message> {
  #linkConditions: LinkConditions
  readonly simTraffic: SimTraffic = { sent: 0, lost: 0, duplicated: 0 }
  readonly #size: number
  readonly #queue: EventQueue
  readonly #links: readonly Random[]
  readonly #deliver: (from: number, to: number, message: Message) => void
  /** Number of splits that separate two nodes. */
  readonly #cuts: number[]
  #isHealed = false

  constructor(options: {
    readonly size: number
    readonly seed: number
    readonly linkConditions: LinkConditions
    readonly queue: EventQueue
    readonly deliver: (from: number, to: number, message: Message) => void
  }) {
    const { size, seed, linkConditions, queue, deliver } = options
    this.#linkConditions = linkConditions
    this.#size = size
    this.#queue = queue
    this.#deliver = deliver
    this.#cuts = new Array(size * size).fill(0)
    this.#links = this.#cuts.map((_, link) => createRandom(seed * 65_537 + link))
  }

  post(from: number, to: number, message: Message): void {
    const { loss, duplicate, delayMs, stuck } = this.#linkConditions
    const link = from * this.#size + to
    const random = this.#links[link] as Random
    this.simTraffic.sent++
    if (!this.isOpen(from, to) || random.chance(loss)) {
      this.simTraffic.lost++
      return
    }
    const copies = random.chance(duplicate) ? 2 : 1
    this.simTraffic.duplicated += copies - 1
    for (let copy = 0; copy < copies; copy++) {
      const hangsMs = random.chance(stuck) ? random.next() * LONGEST_STUCK_MS : 0
      const atMs = this.#queue.nowMs + MIN_DELAY_MS - Math.log(1 - random.next()) * delayMs + hangsMs
      this.#queue.at(atMs, () => this.#deliver(from, to, message))
    }
  }

  isOpen(from: number, to: number): boolean {
    return this.#cuts[from * this.#size + to] === 0
  }

  /** Cuts messages from `side` to the others, and unless `oneWay` the reverse direction; returns the function that ends it. */
  partition(side: readonly number[], oneWay: boolean): () => void {
    const cut: number[] = []
    for (const from of side) {
      for (let to = 0; to < this.#size; to++) {
        if (side.includes(to)) continue
        cut.push(from * this.#size + to)
        if (!oneWay) cut.push(to * this.#size + from)
      }
    }
    return this.#cut(cut)
  }

  /** Cuts the links between one node and others, both ways; returns the function that ends it. */
  separate(node: number, others: readonly number[]): () => void {
    return this.#cut(others.flatMap(other => [node * this.#size + other, other * this.#size + node]))
  }

  #cut(links: readonly number[]): () => void {
    for (const link of links) this.#cuts[link] = (this.#cuts[link] as number) + 1
    return () => {
      if (this.#isHealed) return
      for (const link of links) this.#cuts[link] = (this.#cuts[link] as number) - 1
    }
  }

  /** Ends all partitions. */
  heal(linkConditions: LinkConditions): void {
    this.#linkConditions = linkConditions
    this.#isHealed = true
    this.#cuts.fill(0)
  }
}
