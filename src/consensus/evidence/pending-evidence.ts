import type { Hex } from '@tandem/base/bytes.ts'
import { encodeEvidence } from './codec.ts'
import { accusedIn, type Evidence } from './evidence.ts'

interface Entry {
  readonly number: number
  readonly encoded: Uint8Array
}

/** Verified evidence in no block yet: one piece per validator, for a bounded number. The owner removes expired evidence. */
export class PendingEvidence {
  readonly #entries = new Map<Hex, Entry>()
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#entries.size
  }

  /** Returns true when evidence against this validator would be kept. */
  wants(offender: Hex): boolean {
    return !this.#entries.has(offender) && this.#entries.size < this.#limit
  }

  /** Adds evidence that `wants` accepted; returns its encoding. */
  add(offender: Hex, evidence: Evidence): Uint8Array {
    const encoded = encodeEvidence(evidence)
    this.#entries.set(offender, { number: accusedIn(evidence).number, encoded })
    return encoded
  }

  /** Returns encoded evidence with the accused validator, lowest height first. */
  all(): readonly { readonly offender: Hex; readonly encoded: Uint8Array }[] {
    return [...this.#entries]
      .sort(([, a], [, b]) => a.number - b.number)
      .map(([offender, { encoded }]) => ({ offender, encoded }))
  }

  /** Removes evidence that a block holds, or that has expired; returns false when there was none. */
  remove(offender: Hex): boolean {
    return this.#entries.delete(offender)
  }
}
