/** Gathers what goes to the same place in one turn of the event loop, for where each delivery costs more than what is delivered. */
export class Batcher<T> {
  readonly #deliver: (items: readonly T[]) => void
  readonly #limit: number
  #items: T[] = []
  #isDue = false

  /** Delivers at the end of the turn, and as soon as `limit` items wait, so that whoever gets them can begin. */
  constructor(limit: number, deliver: (items: readonly T[]) => void) {
    this.#limit = limit
    this.#deliver = deliver
  }

  add(item: T): void {
    this.#items.push(item)
    if (this.#items.length >= this.#limit) this.#flush()
    else if (!this.#isDue) {
      this.#isDue = true
      setImmediate(() => {
        this.#isDue = false
        this.#flush()
      })
    }
  }

  #flush(): void {
    const items = this.#items
    if (items.length === 0) return
    this.#items = []
    this.#deliver(items)
  }
}
