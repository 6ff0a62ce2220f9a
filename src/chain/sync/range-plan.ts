import { assert } from '../../util/assert.ts'

/** Consecutive heights, asked for and imported together. */
export interface BlockBatch {
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
  /** Requests for it under way. */
  asked: number
  content: Content | undefined
  failures: number
}

/**
 * Which heights to ask for, and what to import next (docs/design/network.md#block-sync): pieces that follow each other without a gap from the
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

  /** Whether the next piece failed so often. */
  isStalled(attempts: number): boolean {
    return (this.#entries[0]?.failures ?? 0) >= attempts
  }

  /**
   * What to ask now, lowest first, up to the height `target` and as far as `mayAsk` gives leave; each is to be answered by
   * `arrived` or `failedResult`.
   */
  ask(target: number, mayAsk: () => boolean = () => true): readonly BlockBatch[] {
    const asks: BlockBatch[] = []
    for (const entry of this.#entries) {
      if (entry.asked > 0 || entry.content !== undefined) continue
      // The next one to import always may, else a full plan would never empty.
      if (!this.#hasRoom() && entry !== this.#entries[0]) break
      if (!mayAsk()) return asks
      asks.push(begin(entry))
    }
    while (this.#hasRoom() && this.#entries.length < this.#limits.pieces && this.#end < target) {
      if (!mayAsk()) return asks
      const from = this.#end + 1
      const count = Math.min(this.#limits.pieceBlocks, target - this.#end)
      const entry = entryOf<Content>(from, count)
      this.#entries.push(entry)
      asks.push(begin(entry))
    }
    return asks
  }

  /** The next piece is late: what to ask of somebody else as well, as long as so few were asked. */
  askAgain(askedAtOnce: number): BlockBatch | undefined {
    const [entry] = this.#entries
    if (entry === undefined || entry.content !== undefined || entry.asked >= askedAtOnce) return undefined
    return begin(entry)
  }

  /** The first `count` heights of a piece are here; the others are asked for anew. Whoever answers second answers in vain. */
  arrived({ from }: BlockBatch, count: number, content: Content): void {
    const entry = this.#answered(from)
    if (entry === undefined || entry.content !== undefined || count > entry.count) return
    this.#fill(entry, count, content)
  }

  /** Somebody brings the next `count` heights unasked; of no use when they are here already. */
  offered(count: number, content: Content): void {
    const [first] = this.#entries
    if (first === undefined) this.#entries.push({ ...entryOf<Content>(this.#head + 1, count), content })
    else if (first.content === undefined && count <= first.count) this.#fill(first, count, content)
  }

  /** Nobody had it. */
  failed({ from }: BlockBatch): void {
    const entry = this.#answered(from)
    // Somebody else may still have it.
    if (entry !== undefined && entry.asked === 0 && entry.content === undefined) entry.failures++
  }

  /** What to import next, if it is here. */
  next(): { readonly blockBatch: BlockBatch; readonly content: Content } | undefined {
    const [entry] = this.#entries
    if (entry?.content === undefined) return undefined
    return { blockBatch: { from: entry.from, count: entry.count }, content: entry.content }
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
    // What is still under way was asked for the old beginning.
    entry.asked = 0
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
    const asked = this.#entries.reduce((sum, entry) => sum + entry.asked, 0)
    return asked < parallel && asked + this.held < pieces
  }

  #fill(entry: Entry<Content>, count: number, content: Content): void {
    assert(count > 0, 'an answer holds some of what was asked for')
    const rest = entry.count - count
    entry.count = count
    entry.content = content
    if (rest > 0) this.#entries.splice(this.#entries.indexOf(entry) + 1, 0, entryOf(entry.from + count, rest))
  }

  /** The piece an answer belongs to; undefined: it came from elsewhere meanwhile. */
  #answered(from: number): Entry<Content> | undefined {
    const entry = this.#entries.find(candidate => candidate.from === from)
    if (entry === undefined || entry.asked === 0) return undefined
    entry.asked--
    return entry
  }
}

const entryOf = <Content>(from: number, count: number): Entry<Content> => ({
  from,
  count,
  asked: 0,
  content: undefined,
  failures: 0,
})

const begin = <Content>(entry: Entry<Content>): BlockBatch => {
  entry.asked++
  return { from: entry.from, count: entry.count }
}
