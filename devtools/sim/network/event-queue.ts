/** Events of a simulation ordered by time, then by insertion: a binary heap. */
export class EventQueue {
  readonly #heap: { readonly atMs: number; readonly order: number; readonly run: () => void }[] = []
  #order = 0
  nowMs = 0
  /** Number of events run so far. */
  count = 0

  at(atMs: number, run: () => void): void {
    const heap = this.#heap
    heap.push({ atMs: Math.max(atMs, this.nowMs), order: this.#order++, run })
    for (let child = heap.length - 1; child > 0; ) {
      const parent = (child - 1) >> 1
      if (!this.#before(child, parent)) break
      this.#swap(child, parent)
      child = parent
    }
  }

  /** Runs the next event; returns false when none is left. */
  next(): boolean {
    const heap = this.#heap
    const first = heap[0]
    if (first === undefined) return false
    const last = heap.pop()!
    if (heap.length > 0) {
      heap[0] = last
      this.#sink()
    }
    this.nowMs = first.atMs
    this.count++
    first.run()
    return true
  }

  #sink(): void {
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1
      let least = parent
      if (left < this.#heap.length && this.#before(left, least)) least = left
      if (left + 1 < this.#heap.length && this.#before(left + 1, least)) least = left + 1
      if (least === parent) return
      this.#swap(parent, least)
      parent = least
    }
  }

  #before(a: number, b: number): boolean {
    const x = this.#heap[a]!
    const y = this.#heap[b]!
    return x.atMs < y.atMs || (x.atMs === y.atMs && x.order < y.order)
  }

  #swap(a: number, b: number): void {
    ;[this.#heap[a], this.#heap[b]] = [this.#heap[b]!, this.#heap[a]!]
  }
}
