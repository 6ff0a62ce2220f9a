/** Least recently used values, bounded by the bytes they hold. */
export class ByteLru<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly bytes: number }>()
  readonly #limitBytes: number
  #bytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }

  /** A value larger than a quarter of the whole is not kept: it would throw out everything else. */
  set(key: string, value: V, bytes: number): void {
    if (bytes > this.#limitBytes / 4) return
    const old = this.#entries.get(key)
    if (old !== undefined) {
      this.#entries.delete(key)
      this.#bytes -= old.bytes
    }
    this.#entries.set(key, { value, bytes })
    this.#bytes += bytes
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#limitBytes) break
      this.#entries.delete(oldest)
      this.#bytes -= entry.bytes
    }
  }
}
