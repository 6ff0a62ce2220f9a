import type { Hex } from '../../util/bytes.ts'

/** Transactions stopped for lack of time, to be tried first in a later block; the oldest is evicted. */
export class Retries {
  readonly #limit: number
  readonly #hashes = new Set<Hex>()

  constructor(limit: number) {
    this.#limit = limit
  }

  add(hash: Hex): void {
    this.#hashes.delete(hash)
    this.#hashes.add(hash)
    const [oldest] = this.#hashes
    if (this.#hashes.size > this.#limit && oldest !== undefined) this.#hashes.delete(oldest)
  }

  /** Returns the first one that can be its sender's next; the callback returns undefined to drop a hash. */
  next(isNextOfSender: (hash: Hex) => boolean | undefined): Hex | undefined {
    for (const hash of this.#hashes) {
      const isNext = isNextOfSender(hash)
      if (isNext) return hash
      if (isNext === undefined) this.#hashes.delete(hash)
    }
    return undefined
  }

  delete(hash: Hex): void {
    this.#hashes.delete(hash)
  }

  clear(): void {
    this.#hashes.clear()
  }
}
