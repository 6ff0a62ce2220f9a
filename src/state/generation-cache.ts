/**
 * A bounded map that forgets what was not used lately. Two generations: a hit in the old one moves the entry to the young one; when
 * the young one is full it becomes the old one. Cheaper per hit than a strict LRU order, and holds between half and all of `limit`.
 */
export class GenerationCache<V> {
  #young = new Map<string, V>()
  #old = new Map<string, V>()
  #weight = 0
  readonly #limit: number
  readonly #weigh: (value: V) => number

  /** `limit` in entries, or in whatever `weigh` answers. */
  constructor(limit: number, weigh: (value: V) => number = () => 1) {
    this.#limit = limit
    this.#weigh = weigh
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(key: string): V | undefined {
    const found = this.#young.get(key)
    if (found !== undefined) return found
    const kept = this.#old.get(key)
    if (kept === undefined) return undefined
    this.#old.delete(key)
    this.#add(key, kept)
    return kept
  }

  set(key: string, value: V): void {
    const before = this.#young.get(key)
    if (before !== undefined) this.#weight -= this.#weigh(before)
    else this.#old.delete(key)
    this.#add(key, value)
  }

  #add(key: string, value: V): void {
    this.#young.set(key, value)
    this.#weight += this.#weigh(value)
    if (this.#weight < this.#limit / 2) return
    this.#old = this.#young
    this.#young = new Map()
    this.#weight = 0
  }
}
