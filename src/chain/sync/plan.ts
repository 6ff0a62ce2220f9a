import { assert } from '../../util/assert.ts'

/** Consecutive heights, asked for and imported together. */
export interface Piece {
  readonly from: number
  readonly count: number
}

export interface PlanLimits {
  /** Heights in one request. */
  readonly pieceBlocks: number
  /** Requests under way. */
  readonly parallel: number
  /** Pieces under way or waiting for their turn to be imported: the bound on memory. */
  readonly pieces: number
}

interface Entry<Content> {
  from: number
  count: number
  isAsked: boolean
  content: Content | undefined
  failures: number
}

/**
 * Which heights to ask for, and what to import next (reference/consensus.md 4): pieces that follow each other without a gap from the
 * block after the head on. Answers come in any order and may be short, imports go strictly upwards; a piece that failed is asked
 * again before any later one.
 */
export class RangePlan<Content> {
  readonly #limits: PlanLimits
  readonly #entries: Entry<Content>[] = []
  #head: number

  constructor(head: number, limits: PlanLimits) {
    this.#head = head
    this.#limits = limits
  }

  /** The last height imported. */
  get head(): number {
    return this.#head
  }

  /** Pieces whose content waits here. */
  get held(): number {
    return this.#entries.filter(({ content }) => content !== undefined).length
  }

  /** Nothing is planned any more. */
  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  /** Whether the next piece failed so often. */
  isStalled(attempts: number): boolean {
    return (this.#entries[0]?.failures ?? 0) >= attempts
  }

  /** What to ask now, lowest first, up to the height `target`; each is to be answered by `arrived` or `failed`. */
  ask(target: number): readonly Piece[] {
    const asks: Piece[] = []
    for (const entry of this.#entries) {
      if (entry.isAsked || entry.content !== undefined) continue
      // The next one to import always may, else a full plan would never empty.
      if (!this.#hasRoom() && entry !== this.#entries[0]) break
      asks.push(begin(entry))
    }
    while (this.#hasRoom() && this.#entries.length < this.#limits.pieces && this.#end < target) {
      const from = this.#end + 1
      const count = Math.min(this.#limits.pieceBlocks, target - this.#end)
      const entry: Entry<Content> = { from, count, isAsked: false, content: undefined, failures: 0 }
      this.#entries.push(entry)
      asks.push(begin(entry))
    }
    return asks
  }

  /** The first `count` heights of a piece are here; the others are asked for anew. */
  arrived({ from }: Piece, count: number, content: Content): void {
    const entry = this.#asked(from)
    assert(count > 0 && count <= entry.count, 'an answer holds some of what was asked for')
    const rest = entry.count - count
    entry.isAsked = false
    entry.count = count
    entry.content = content
    if (rest === 0) return
    const remaining = { from: from + count, count: rest, isAsked: false, content: undefined, failures: 0 }
    this.#entries.splice(this.#entries.indexOf(entry) + 1, 0, remaining)
  }

  /** Nobody had it. */
  failed({ from }: Piece): void {
    const entry = this.#asked(from)
    entry.isAsked = false
    entry.failures++
  }

  /** What to import next, if it is here. */
  next(): { readonly piece: Piece; readonly content: Content } | undefined {
    const [entry] = this.#entries
    if (entry?.content === undefined) return undefined
    return { piece: { from: entry.from, count: entry.count }, content: entry.content }
  }

  /** The first `count` heights of the next piece were imported; `rest` stands for the others. */
  imported(count: number, rest?: Content): void {
    const [entry] = this.#entries
    assert(entry?.content !== undefined && count > 0 && count <= entry.count, 'what is here is imported')
    this.#head += count
    if (count === entry.count) {
      this.#entries.shift()
      return
    }
    assert(rest !== undefined, 'a piece imported in part keeps the rest')
    entry.from += count
    entry.count -= count
    entry.content = rest
  }

  /** The next piece is not what it claims to be. */
  refused(): void {
    const [entry] = this.#entries
    assert(entry?.content !== undefined, 'what is here is refused')
    entry.content = undefined
    entry.failures++
  }

  get #end(): number {
    const last = this.#entries.at(-1)
    return last === undefined ? this.#head : last.from + last.count - 1
  }

  #hasRoom(): boolean {
    const { parallel, pieces } = this.#limits
    const asked = this.#entries.filter(({ isAsked }) => isAsked).length
    return asked < parallel && asked + this.held < pieces
  }

  #asked(from: number): Entry<Content> {
    const entry = this.#entries.find(candidate => candidate.from === from)
    assert(entry?.isAsked, 'an answer belongs to a question')
    return entry
  }
}

const begin = <Content>(entry: Entry<Content>): Piece => {
  entry.isAsked = true
  return { from: entry.from, count: entry.count }
}
