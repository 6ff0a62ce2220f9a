import { assert } from './assert.ts'

interface LruOptions<K, V> {
  /** Limit of the sum of weights. */
  readonly limit: number
  /** Weight of one entry, for example its bytes; 1 by default, so that `limit` counts entries. */
  readonly weigh?: (value: V, key: K) => number
  /** An entry heavier than this is not kept, since it would evict too many others; `limit` by default. */
  readonly heaviest?: number
  /** Called for entries evicted by newer ones, not for those deleted or overwritten. */
  readonly onEvict?: (key: K, value: V) => void
}

const FEW_MOVES = 64

/** Least-recently-used cache with a limit of entries or weight. A Map remembers insertion order, so a use reinserts. */
export class Lru<K, V> {
  readonly limit: number
  readonly #weigh: (value: V, key: K) => number
  readonly #heaviest: number
  readonly #onEvict: ((key: K, value: V) => void) | undefined
  readonly #entries = new Map<K, V>()
  #oldest = this.#entries.entries()
  /** Insertions since that iterator was created or last advanced. */
  #moves = 0
  #weight = 0

  constructor(options: number | LruOptions<K, V>) {
    const { limit, weigh, heaviest, onEvict }: LruOptions<K, V> =
      typeof options === 'number' ? { limit: options } : options
    assert(limit > 0, 'cache limit must be positive')
    this.limit = limit
    this.#weigh = weigh ?? (() => 1)
    this.#heaviest = heaviest ?? limit
    this.#onEvict = onEvict
  }

  get size(): number {
    return this.#entries.size
  }

  /** Sum of the current weights; never above `limit`. */
  get weight(): number {
    return this.#weight
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#insert(key, value)
    return value
  }

  /** Reads without counting as a use. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)
  }

  has(key: K): boolean {
    return this.#entries.has(key)
  }

  /** An entry that is too heavy is not kept; undefined is not a value. */
  set(key: K, value: V): void {
    this.delete(key)
    const weight = this.#weigh(value, key)
    if (value === undefined || weight > this.#heaviest) return
    this.#insert(key, value)
    this.#weight += weight
    while (this.#weight > this.limit) this.#evictOldest()
  }

  delete(key: K): boolean {
    const value = this.#entries.get(key)
    if (value === undefined) return false
    this.#entries.delete(key)
    this.#weight -= this.#weigh(value, key)
    return true
  }

  clear(): void {
    this.#entries.clear()
    this.#startOver()
    this.#weight = 0
  }

  /** Least recently used first. */
  entries(): IterableIterator<[K, V]> {
    return this.#entries.entries()
  }

  #insert(key: K, value: V): void {
    this.#entries.set(key, value)
    if (++this.#moves > this.#entries.size + FEW_MOVES) this.#startOver()
  }

  /** A Map reallocates its table sometimes, and an idle iterator retains each old one. */
  #startOver(): void {
    this.#oldest = this.#entries.entries()
    this.#moves = 0
  }

  /**
   * One iterator is kept: everything it has passed was evicted or moved to the end. A new one each time would step over the holes
   * of deletions in the Map, microseconds in a large cache.
   */
  #evictOldest(): void {
    let next = this.#oldest.next()
    if (next.done) {
      this.#startOver()
      next = this.#oldest.next()
    }
    this.#moves = 0
    assert(!next.done, 'a cache above its limit holds entries')
    const [key, value] = next.value
    this.delete(key)
    this.#onEvict?.(key, value)
  }
}
