import { assert } from '@tandem/base/assert.ts'

interface Held<V> {
  value: V
  /** Used since the hand last passed it. */
  used: boolean
}

/**
 * Bounded map for very many small entries, with second-chance eviction: a hit sets a bit, and the hand, an iterator over the Map in
 * insertion order, skips entries used once. An LRU order by deleting and reinserting at each use would cost more per hit, and finding
 * the oldest entry in such a Map costs microseconds once it has holes.
 */
export class SecondChanceCache<V> {
  readonly #limit: number
  readonly #entries = new Map<string, Held<V>>()
  #hand = this.#entries.entries()

  /** `limit` in entries. */
  constructor(limit: number) {
    assert(limit > 0, 'cache limit must be positive')
    this.#limit = limit
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): V | undefined {
    const held = this.#entries.get(key)
    if (held === undefined) return undefined
    held.used = true
    return held.value
  }

  set(key: string, value: V): void {
    const held = this.#entries.get(key)
    if (held !== undefined) {
      held.value = value
      held.used = true
      return
    }
    if (this.#entries.size >= this.#limit) this.#evict()
    this.#entries.set(key, { value, used: false })
  }

  /** Two rounds at most: the first clears every bit. */
  #evict(): void {
    for (;;) {
      const next = this.#hand.next()
      if (next.done) {
        this.#hand = this.#entries.entries()
        continue
      }
      const [key, held] = next.value
      if (!held.used) {
        this.#entries.delete(key)
        return
      }
      held.used = false
    }
  }
}
