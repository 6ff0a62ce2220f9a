interface Batch<Key, T> {
  readonly keys: Set<Key>
  readonly found: Promise<ReadonlyMap<Key, T>>
}

/** Look-ups of one instant as a single query: a list that names a token or a label in each row asks for all of them at once. */
export class BatchedLookUp<Key, T> {
  readonly #load: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, T>>
  #next: Batch<Key, T> | undefined

  constructor(load: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, T>>) {
    this.#load = load
  }

  async get(key: Key): Promise<T | undefined> {
    this.#next ??= this.#begin()
    this.#next.keys.add(key)
    return (await this.#next.found).get(key)
  }

  #begin(): Batch<Key, T> {
    const keys = new Set<Key>()
    const found = Promise.resolve().then(() => {
      this.#next = undefined
      return this.#load([...keys])
    })
    return { keys, found }
  }
}
