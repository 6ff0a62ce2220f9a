import { assert } from './assert.ts'

export interface LruOptions<K, V> {
  /** Sum of the weights kept. */
  readonly limit: number
  /** Weight of one entry, for example its bytes; 1 when left out, so that `limit` counts entries. */
  readonly weigh?: (value: V, key: K) => number
  /** An entry heavier than this is not kept, for it would push out too many others; all of `limit` when left out. */
  readonly heaviest?: number
  /** Called for entries pushed out by newer ones, not for those deleted or overwritten. */
  readonly onEvict?: (key: K, value: V) => void
}

const FEW_MOVES = 64

/** Keeps what was used most recently, within a limit of entries or weight. A Map remembers insertion order, so a use re-inserts. */
export class Lru<K, V> {
  readonly limit: number
  readonly #weigh: (value: V, key: K) => number
  readonly #heaviest: number
  readonly #onEvict: ((key: K, value: V) => void) | undefined
  readonly #entries = new Map<K, V>()
  #oldest = this.#entries.entries()
  /** Insertions since that iterator was made or last advanced. */
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

  /** Sum of the weights held now; never above `limit`. */
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

  /** An entry that is too heavy is not kept; undefined is no value. */
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

  /** A Map makes a new table now and then, and an iterator that stands still keeps each old one. */
  #startOver(): void {
    this.#oldest = this.#entries.entries()
    this.#moves = 0
  }

  /**
   * One iterator is kept: everything it has passed was evicted or moved to the end. A new one each time would step over the
   * holes that deletions leave in a Map, microseconds in a large cache.
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
