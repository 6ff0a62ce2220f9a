/** Collects items for the same receiver within one turn of the event loop, where a delivery costs more than an item. */
export class Batcher<T> {
  readonly #deliver: (items: readonly T[]) => unknown
  readonly #limit: number
  readonly #overlap: number
  #items: T[] = []
  #isDue = false
  #underWay = 0

  /**
   * Delivers at the end of the turn, or as soon as `limit` items wait, so that the receiver can begin. While `overlap` promises of `deliver`
   * have not settled, fewer items wait for the end of one: the busier the receiver, the more come together.
   */
  constructor(limit: number, deliver: (items: readonly T[]) => unknown, overlap = Number.POSITIVE_INFINITY) {
    this.#deliver = deliver
    this.#limit = limit
    this.#overlap = overlap
  }

  add(item: T): void {
    this.#items.push(item)
    if (this.#items.length >= this.#limit) this.flush()
    else if (!this.#isDue) {
      this.#isDue = true
      setImmediate(() => {
        this.#isDue = false
        if (this.#underWay < this.#overlap) this.flush()
      })
    }
  }

  /** Delivers now what waits. */
  flush(): void {
    const items = this.#items
    if (items.length === 0) return
    this.#items = []
    const delivered = this.#deliver(items)
    if (!(delivered instanceof Promise)) return
    this.#underWay++
    const settled = (): void => {
      this.#underWay--
      if (!this.#isDue) this.flush()
    }
    delivered.then(settled, settled)
  }
}
