import type { Hex } from '@tandem/base/bytes.ts'

/** Hashes of pending transactions in order of arrival, numbered and shared: a reader is a cursor, the number of its next hash. */
export class PendingHashes {
  readonly #limit: number
  readonly #hashes: Hex[] = []
  /** Sequence number of the oldest kept hash. */
  #start = 0

  /** `limit` is the maximum of kept hashes; above it the older half is dropped. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#hashes.length
  }

  /** Sequence number of the next hash. */
  get end(): number {
    return this.#start + this.#hashes.length
  }

  push(hash: Hex): void {
    this.#hashes.push(hash)
    // Dropped half at a time, since shifting one by one would be quadratic.
    if (this.#hashes.length > this.#limit) this.dropBefore(this.#start + Math.floor(this.#limit / 2))
  }

  /** Returns the kept hashes from this sequence number on. */
  from(sequence: number): readonly Hex[] {
    return this.#hashes.slice(Math.max(0, sequence - this.#start))
  }

  /** Drops the hashes that every reader has had. */
  dropBefore(sequence: number): void {
    const start = Math.min(sequence, this.end)
    if (start <= this.#start) return
    this.#hashes.splice(0, start - this.#start)
    this.#start = start
  }
}
