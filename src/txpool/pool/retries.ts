import type { Hex } from '../../util/bytes.ts'

/** Transactions that were stopped for want of time, and are to be tried first in a block; the oldest makes room. */
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

  /** The first one that can be the next of its sender; undefined as an answer forgets it. */
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
