import { assert } from '../assert.ts'

/** FIFO queue with a limit: a full queue refuses instead of growing. A ring buffer, so that taking the head is O(1). */
export class BoundedQueue<T> {
  readonly limit: number
  #ring: (T | undefined)[]
  #head = 0
  #size = 0

  constructor(limit: number) {
    assert(Number.isSafeInteger(limit) && limit > 0, 'queue limit must be a positive integer')
    this.limit = limit
    this.#ring = new Array(Math.min(limit, 16)).fill(undefined)
  }

  get size(): number {
    return this.#size
  }

  get isFull(): boolean {
    return this.#size === this.limit
  }

  /** Returns false, without taking the item, when the queue is full. */
  push(item: T): boolean {
    if (this.isFull) return false
    if (this.#size === this.#ring.length) this.#grow()
    this.#ring[(this.#head + this.#size) % this.#ring.length] = item
    this.#size++
    return true
  }

  peek(): T | undefined {
    return this.#size === 0 ? undefined : this.#ring[this.#head]
  }

  shift(): T | undefined {
    if (this.#size === 0) return undefined
    const item = this.#ring[this.#head]
    this.#ring[this.#head] = undefined
    this.#head = (this.#head + 1) % this.#ring.length
    this.#size--
    return item
  }

  /** Takes up to `max` items from the head. */
  take(max: number): T[] {
    const out: T[] = []
    while (out.length < max && this.#size > 0) out.push(this.shift() as T)
    return out
  }

  clear(): void {
    this.#ring.fill(undefined)
    this.#head = 0
    this.#size = 0
  }

  #grow(): void {
    const larger: (T | undefined)[] = new Array(Math.min(this.limit, this.#ring.length * 2)).fill(undefined)
    for (let i = 0; i < this.#size; i++) larger[i] = this.#ring[(this.#head + i) % this.#ring.length]
    this.#ring = larger
    this.#head = 0
  }
}
