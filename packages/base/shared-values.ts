/** Entries: the value of each may stay until the next full garbage collection. */
const LIMIT = 4

/** Values in use elsewhere, by key, so that another reader shares one instead of making a copy. It keeps none of them in memory. */
export class SharedValues<K, V extends object> {
  readonly #references = new Map<K, WeakRef<V>>()

  get(key: K): V | undefined {
    return this.#references.get(key)?.deref()
  }

  set(key: K, value: V): void {
    this.#references.delete(key)
    this.#references.set(key, new WeakRef(value))
    if (this.#references.size <= LIMIT) return
    for (const oldest of this.#references.keys()) {
      this.#references.delete(oldest)
      return
    }
  }

  clear(): void {
    this.#references.clear()
  }
}
