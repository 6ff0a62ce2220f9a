import type { Hex } from '../../util/bytes.ts'

/**
 * Hashes of pending transactions in the order they came, each with a sequence number, so that any number of readers share them: a
 * reader is the number of the next hash it has not had. They have no history elsewhere.
 */
export class PendingHashes {
  readonly #limit: number
  readonly #hashes: Hex[] = []
  /** Sequence number of the first one kept. */
  #start = 0

  /** `limit`: most kept; above it the older half goes. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#hashes.length
  }

  /** Sequence number of the hash that comes next. */
  get end(): number {
    return this.#start + this.#hashes.length
  }

  push(hash: Hex): void {
    this.#hashes.push(hash)
    // Half at a time: shifting one by one would be quadratic.
    if (this.#hashes.length > this.#limit) this.dropBefore(this.#start + Math.floor(this.#limit / 2))
  }

  /** Those kept from this number on. */
  from(sequence: number): readonly Hex[] {
    return this.#hashes.slice(Math.max(0, sequence - this.#start))
  }

  /** What no reader waits for any more. */
  dropBefore(sequence: number): void {
    const start = Math.min(sequence, this.end)
    if (start <= this.#start) return
    this.#hashes.splice(0, start - this.#start)
    this.#start = start
  }
}
