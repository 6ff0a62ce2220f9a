import { assert } from '@tandem/base/assert.ts'

/** Consecutive heights, requested and imported together. */
export interface BlockBatch {
  readonly from: number
  readonly count: number
}

/** Heights per request, requests under way, and batches requested or waiting for import, which bound the memory. */
type PlanLimits = Readonly<Record<'pieceBlocks' | 'parallel' | 'pieces', number>>

interface Entry<Content> {
  from: number
  count: number
  /** Number of requests for it under way. */
  asked: number
  content: Content | undefined
  failures: number
}

/**
 * Decides which heights to request, and what to import next (docs/design/network.md#block-sync): contiguous batches from the
 * block after the head on. Responses arrive in any order and may be short; imports are strictly ascending; a failed batch is
 * requested again before any later one.
 */
export class RangePlan<Content> {
  readonly #limits: PlanLimits
  readonly #entries: Entry<Content>[] = []
  #head: number

  constructor(head: number, limits: PlanLimits) {
    this.#head = head
    this.#limits = limits
  }

  /** Last imported height. */
  get head(): number {
    return this.#head
  }

  /** Number of batches waiting for import. */
  get held(): number {
    return this.#entries.filter(({ content }) => content !== undefined).length
  }

  /** Returns true when the next batch has failed this often. */
  isStalled(attempts: number): boolean {
    return (this.#entries[0]?.failures ?? 0) >= attempts
  }

  /** Returns the batches to request now, lowest first, up to the height `target`; the caller reports each by `arrived` or `failed`. */
  ask(target: number): readonly BlockBatch[] {
    const asks: BlockBatch[] = []
    for (const entry of this.#entries) {
      if (entry.asked > 0 || entry.content !== undefined) continue
      // The next one to import is always requested, else a full plan would never empty.
      if (!this.#hasRoom() && entry !== this.#entries[0]) break
      asks.push(begin(entry))
    }
    while (this.#hasRoom() && this.#entries.length < this.#limits.pieces && this.#end < target) {
      const from = this.#end + 1
      const count = Math.min(this.#limits.pieceBlocks, target - this.#end)
      const entry = entryOf<Content>(from, count)
      this.#entries.push(entry)
      asks.push(begin(entry))
    }
    return asks
  }

  /** Called when the next batch is late: returns it for a second peer while fewer than `askedAtOnce` are asked. */
  askAgain(askedAtOnce: number): BlockBatch | undefined {
    const [entry] = this.#entries
    if (entry === undefined || entry.content !== undefined || entry.asked >= askedAtOnce) return undefined
    return begin(entry)
  }

  /** Stores the first `count` heights of a batch; the others are requested anew. A second response is dropped. */
  arrived({ from }: BlockBatch, count: number, content: Content): void {
    const entry = this.#answered(from)
    if (entry === undefined || entry.content !== undefined || count > entry.count) return
    this.#fill(entry, count, content)
  }

  /** Stores the next `count` heights pushed by a peer; dropped when they are known already. */
  offered(count: number, content: Content): void {
    const [first] = this.#entries
    if (first === undefined) this.#entries.push({ ...entryOf<Content>(this.#head + 1, count), content })
    else if (first.content === undefined && count <= first.count) this.#fill(first, count, content)
  }

  /** Reports that no peer had it. */
  failed({ from }: BlockBatch): void {
    const entry = this.#answered(from)
    // Another request may still deliver it.
    if (entry !== undefined && entry.asked === 0 && entry.content === undefined) entry.failures++
  }

  /** Returns the content to import next, if it has arrived. */
  next(): { readonly blockBatch: BlockBatch; readonly content: Content } | undefined {
    const [entry] = this.#entries
    if (entry?.content === undefined) return undefined
    return { blockBatch: { from: entry.from, count: entry.count }, content: entry.content }
  }

  /** Marks the first `count` heights of the next batch as imported; `rest` holds the others. */
  imported(count: number, rest?: Content): void {
    const [entry] = this.#entries
    assert(entry?.content !== undefined && count > 0 && count <= entry.count, 'the content of the batch is imported')
    this.#head += count
    if (count === entry.count) {
      this.#entries.shift()
      return
    }
    assert(rest !== undefined, 'a piece imported in part keeps the rest')
    entry.from += count
    entry.count -= count
    entry.content = rest
    // Requests under way were for the old beginning.
    entry.asked = 0
  }

  /** Drops the content of the next batch, which proved invalid. */
  refused(): void {
    const [entry] = this.#entries
    assert(entry?.content !== undefined, 'the content of the batch is refused')
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
    assert(count > 0, 'a response holds part of the requested blocks')
    const rest = entry.count - count
    entry.count = count
    entry.content = content
    if (rest > 0) this.#entries.splice(this.#entries.indexOf(entry) + 1, 0, entryOf(entry.from + count, rest))
  }

  /** Returns the batch a response belongs to; undefined when it was filled meanwhile. */
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
