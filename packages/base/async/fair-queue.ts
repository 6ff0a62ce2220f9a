interface FairQueueLimits {
  /** Items of all owners. */
  readonly total?: number
  /** Weight of the items of one owner. */
  readonly owner?: number
  /** A full queue drops the newest item of the owner with most, in favour of an owner with fewer. */
  readonly displaces?: boolean
}

/** Item without room: the one that was pushed, or the one that it displaced. */
interface Refused<T> {
  readonly item: T
  readonly full: 'owner' | 'total'
}

interface Entry<T> {
  readonly item: T
  readonly weight: number
}

interface Line<T> {
  readonly entries: Entry<T>[]
  weight: number
}

/** Queues by owner, served in rotation, so that an owner with many items waits only for itself. */
export class FairQueue<T> {
  readonly #limits: FairQueueLimits
  /** In the order of rotation; none is empty. */
  readonly #lines = new Map<string, Line<T>>()
  #size = 0

  constructor(limits: FairQueueLimits = {}) {
    this.#limits = limits
  }

  get isEmpty(): boolean {
    return this.#size === 0
  }

  get size(): number {
    return this.#size
  }

  lengthOf(owner: string): number {
    return this.#lines.get(owner)?.entries.length ?? 0
  }

  /** Adds an item, and returns the one that found no room for it. */
  push(owner: string, item: T, weight = 1): Refused<T> | undefined {
    const { owner: most = Number.POSITIVE_INFINITY, total = Number.POSITIVE_INFINITY } = this.#limits
    const line = this.#lines.get(owner) ?? { entries: [], weight: 0 }
    if (line.weight + weight > most) return { item, full: 'owner' }
    const displaced = this.#size < total ? undefined : this.#displace(line.entries.length)
    if (this.#size >= total) return { item, full: 'total' }
    line.entries.push({ item, weight })
    line.weight += weight
    this.#lines.set(owner, line)
    this.#size++
    return displaced && { item: displaced, full: 'total' }
  }

  /** Takes the oldest item of the first owner that `mayHave` allows to have it; that owner moves to the end of the rotation. */
  shift(mayHave: (owner: string, item: T) => boolean): { readonly owner: string; readonly item: T } | undefined {
    for (const [owner, line] of this.#lines) {
      const { item } = line.entries[0] as Entry<T>
      if (!mayHave(owner, item)) continue
      this.#takeAt(owner, line, 0)
      if (this.#lines.delete(owner)) this.#lines.set(owner, line)
      return { owner, item }
    }
    return undefined
  }

  /** Removes one item; returns false when it is not queued. */
  remove(owner: string, item: T): boolean {
    const line = this.#lines.get(owner)
    const at = line?.entries.findIndex(entry => entry.item === item) ?? -1
    if (line === undefined || at === -1) return false
    this.#takeAt(owner, line, at)
    return true
  }

  /** Takes all items of an owner. */
  take(owner: string): readonly T[] {
    const { entries } = this.#lines.get(owner) ?? { entries: [] }
    this.#lines.delete(owner)
    this.#size -= entries.length
    return entries.map(({ item }) => item)
  }

  takeAll(): T[] {
    const all = [...this.#lines.values()].flatMap(({ entries }) => entries.map(({ item }) => item))
    this.#lines.clear()
    this.#size = 0
    return all
  }

  /** Drops the newest item of the longest line, if it is longer than a line of `length` and one more item. */
  #displace(length: number): T | undefined {
    if (this.#limits.displaces !== true) return undefined
    let longest: string | undefined
    for (const owner of this.#lines.keys())
      if (longest === undefined || this.lengthOf(owner) > this.lengthOf(longest)) longest = owner
    if (longest === undefined || this.lengthOf(longest) <= length + 1) return undefined
    return this.#takeAt(longest, this.#lines.get(longest) as Line<T>, this.lengthOf(longest) - 1)
  }

  #takeAt(owner: string, line: Line<T>, at: number): T {
    const { item, weight } = (at === 0 ? line.entries.shift() : line.entries.splice(at, 1)[0]) as Entry<T>
    line.weight -= weight
    if (line.entries.length === 0) this.#lines.delete(owner)
    this.#size--
    return item
  }
}
