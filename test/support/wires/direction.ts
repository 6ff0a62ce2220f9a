import type { Random } from '@tandem/base/random.ts'

/** Delay and loss of a line in one direction. A lost packet shows in a stream as silence, then all bytes at once. */
export interface Line {
  readonly latencyMs: number
  /** On top of the latency: up to so much, drawn anew for each piece. Order stays. */
  readonly jitterMs: number
  /** 0: no bound. */
  readonly bytesPerMs: number
  /** How likely a piece waits `stallMs` more, and all behind it with it, as for a packet that is sent again. */
  readonly stallChance: number
  readonly stallMs: number
}

export const PLAIN_LINE: Line = { latencyMs: 0, jitterMs: 0, bytesPerMs: 0, stallChance: 0, stallMs: 0 }

/** State shared by all connections from one node to another: the line, and whether it is cut. */
export class Direction {
  line: Line
  readonly random: Random
  #isCut = false
  readonly #healed = new Set<() => void>()

  constructor(line: Line, random: Random) {
    this.line = line
    this.random = random
  }

  get isCut(): boolean {
    return this.#isCut
  }

  cut(): void {
    this.#isCut = true
  }

  /** Ends the cut; delivers the bytes that were held back. */
  heal(): void {
    if (!this.#isCut) return
    this.#isCut = false
    for (const go of this.#healed) go()
  }

  /** The answer stops telling. */
  onHealed(go: () => void): () => void {
    this.#healed.add(go)
    return () => this.#healed.delete(go)
  }
}

/** When the pieces of one stream arrive: in order, each after its way and its share of the line. */
export class Timetable {
  readonly #direction: Direction
  #freeMs = 0
  #lastMs = 0

  constructor(direction: Direction) {
    this.#direction = direction
  }

  arrivalMs(nowMs: number, bytes: number): number {
    const { line, random } = this.#direction
    this.#freeMs = Math.max(nowMs, this.#freeMs) + (line.bytesPerMs === 0 ? 0 : bytes / line.bytesPerMs)
    const stall = random.chance(line.stallChance) ? line.stallMs : 0
    const arrival = this.#freeMs + line.latencyMs + line.jitterMs * random.next() + stall
    this.#lastMs = Math.max(this.#lastMs, arrival)
    return this.#lastMs
  }
}
