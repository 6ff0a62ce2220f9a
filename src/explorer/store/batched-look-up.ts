import type { Hex } from '../../util/bytes.ts'

interface Batch<T> {
  readonly keys: Set<Hex>
  readonly found: Promise<ReadonlyMap<Hex, T>>
}

/** Look-ups of one instant as a single query: a list that names a token or a label in each row asks for all of them at once. */
export class BatchedLookUp<T> {
  readonly #load: (keys: readonly Hex[]) => Promise<ReadonlyMap<Hex, T>>
  #next: Batch<T> | undefined

  constructor(load: (keys: readonly Hex[]) => Promise<ReadonlyMap<Hex, T>>) {
    this.#load = load
  }

  async get(key: Hex): Promise<T | undefined> {
    this.#next ??= this.#begin()
    this.#next.keys.add(key)
    return (await this.#next.found).get(key)
  }

  #begin(): Batch<T> {
    const keys = new Set<Hex>()
    const found = Promise.resolve().then(() => {
      this.#next = undefined
      return this.#load([...keys])
    })
    return { keys, found }
  }
}
