/** Collects items for the same receiver within one turn of the event loop, where a delivery costs more than an item. */
export class Batcher<T> {
  readonly #deliver: (items: readonly T[]) => void
  readonly #limit: number
  #items: T[] = []
  #isDue = false

  /** Delivers at the end of the turn, or as soon as `limit` items wait, so that the receiver can begin. */
  constructor(limit: number, deliver: (items: readonly T[]) => void) {
    this.#limit = limit
    this.#deliver = deliver
  }

  add(item: T): void {
    this.#items.push(item)
    if (this.#items.length >= this.#limit) this.flush()
    else if (!this.#isDue) {
      this.#isDue = true
      setImmediate(() => {
        this.#isDue = false
        this.flush()
      })
    }
  }

  /** Delivers now what waits. */
  flush(): void {
    const items = this.#items
    if (items.length === 0) return
    this.#items = []
    this.#deliver(items)
  }
}
