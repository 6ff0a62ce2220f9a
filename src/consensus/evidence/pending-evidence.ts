import type { Hex } from '../../util/bytes.ts'
import { encodeEvidence } from './codec.ts'
import { accusedIn, type Evidence } from './evidence.ts'

interface Entry {
  readonly number: number
  readonly encoded: Uint8Array
}

/**
 * Verified evidence that no block holds yet: one piece against each validator, which is all it takes to jail it, of a bounded number of
 * validators. Whoever holds evidence for longer than it is of use takes it out.
 */
export class PendingEvidence {
  readonly #entries = new Map<Hex, Entry>()
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#entries.size
  }

  /** Whether evidence against this validator would be kept. */
  wants(offender: Hex): boolean {
    return !this.#entries.has(offender) && this.#entries.size < this.#limit
  }

  /** Keeps what `wants` asked for; answers its encoding. */
  add(offender: Hex, evidence: Evidence): Uint8Array {
    const encoded = encodeEvidence(evidence)
    this.#entries.set(offender, { number: accusedIn(evidence).number, encoded })
    return encoded
  }

  /** Encoded evidence with whom it accuses, of the lowest height first. */
  all(): readonly { readonly offender: Hex; readonly encoded: Uint8Array }[] {
    return [...this.#entries]
      .sort(([, a], [, b]) => a.number - b.number)
      .map(([offender, { encoded }]) => ({ offender, encoded }))
  }

  /** A block held it, or none can any more. false: there was none. */
  remove(offender: Hex): boolean {
    return this.#entries.delete(offender)
  }
}
