/** Slot in an item of an IndexedHeap that stores its index, so that it can be moved or removed without a search. */
export interface HeapSlot {
  /** Last index of the item; it is in the heap if that position still holds it. */
  index: number
}

/** Binary heap with changing keys: `update`, `remove`, O(log n). `before(a, b)`: a comes first; `slot`: the item's slot in this heap. */
export class IndexedHeap<T> {
  readonly #items: T[] = []
  readonly #before: (a: T, b: T) => boolean
  readonly #slot: (item: T) => HeapSlot

  constructor(before: (a: T, b: T) => boolean, slot: (item: T) => HeapSlot) {
    this.#before = before
    this.#slot = slot
  }

  get size(): number {
    return this.#items.length
  }

  peek(): T | undefined {
    return this.#items[0]
  }

  /** Inserts an item, or moves it after its key changed. */
  update(item: T): void {
    const slot = this.#slot(item)
    if (this.#items[slot.index] !== item) {
      slot.index = this.#items.length
      this.#items.push(item)
    }
    if (!this.#up(slot.index)) this.#down(slot.index)
  }

  remove(item: T): void {
    const at = this.#slot(item).index
    if (this.#items[at] !== item) return
    const last = this.#items.pop() as T
    if (last === item) return
    this.#place(last, at)
    if (!this.#up(at)) this.#down(at)
  }

  /** Replaces the content by these items: O(n). */
  fill(items: Iterable<T>): void {
    this.#items.length = 0
    for (const item of items) this.#place(item, this.#items.length)
    for (let at = (this.#items.length >> 1) - 1; at >= 0; at--) this.#down(at)
  }

  #up(at: number): boolean {
    const item = this.#items[at] as T
    let index = at
    while (index > 0) {
      const parentIndex = (index - 1) >> 1
      const parent = this.#items[parentIndex] as T
      if (!this.#before(item, parent)) break
      this.#place(parent, index)
      index = parentIndex
    }
    if (index === at) return false
    this.#place(item, index)
    return true
  }

  #down(at: number): void {
    const item = this.#items[at] as T
    const size = this.#items.length
    let index = at
    for (;;) {
      let childIndex = 2 * index + 1
      if (childIndex >= size) break
      const right = childIndex + 1
      if (right < size && this.#before(this.#items[right] as T, this.#items[childIndex] as T)) childIndex = right
      const child = this.#items[childIndex] as T
      if (!this.#before(child, item)) break
      this.#place(child, index)
      index = childIndex
    }
    if (index !== at) this.#place(item, index)
  }

  #place(item: T, index: number): void {
    this.#items[index] = item
    this.#slot(item).index = index
  }
}
