import { keccak256Hex } from '../../crypto/hash.ts'
import type { Hex } from '../../util/bytes.ts'
import { encodeEvidence } from './codec.ts'
import { accusedBy, type Evidence } from './evidence.ts'

interface EvidencePoolLimits {
  readonly items: number
  /** Evidence older than both is of no use any more (reference/consensus.md 6). */
  readonly maxAgeBlocks: number
  readonly maxAgeSeconds: number
}

interface Entry {
  readonly number: number
  /** Unix seconds of the head when it came. */
  readonly seenAt: number
  readonly encoded: Uint8Array
}

/** Verified evidence that no block holds yet: one piece for each member and height, a bounded number in all, the oldest first to go. */
export class EvidencePool {
  readonly #entries = new Map<string, Entry>()
  readonly #limits: EvidencePoolLimits

  constructor(limits: EvidencePoolLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#entries.size
  }

  /** Whether it was new. `seenAt`: unix seconds of the head. */
  add(evidence: Evidence, seenAt: number): boolean {
    const key = keyOf(evidence)
    if (this.#entries.has(key)) return false
    if (this.#entries.size >= this.#limits.items) this.#dropOldest()
    this.#entries.set(key, { number: accusedBy(evidence).number, seenAt, encoded: encodeEvidence(evidence) })
    return true
  }

  /** Encoded evidence for the next block, oldest first, within a size. */
  select(maxBytes: number): readonly Uint8Array[] {
    const chosen: Uint8Array[] = []
    let bytes = 0
    for (const { encoded } of [...this.#entries.values()].sort((a, b) => a.number - b.number)) {
      if (bytes + encoded.byteLength > maxBytes) continue
      bytes += encoded.byteLength
      chosen.push(encoded)
    }
    return chosen
  }

  /** A block held it: the accused is dealt with. */
  included(evidence: Evidence): void {
    this.#entries.delete(keyOf(evidence))
  }

  expire(head: { readonly number: number; readonly timestamp: number }): void {
    const { maxAgeBlocks, maxAgeSeconds } = this.#limits
    for (const [key, { number, seenAt }] of this.#entries) {
      if (head.number - number > maxAgeBlocks && head.timestamp - seenAt > maxAgeSeconds) this.#entries.delete(key)
    }
  }

  #dropOldest(): void {
    const oldest = [...this.#entries].reduce((a, b) => (b[1].number < a[1].number ? b : a))
    this.#entries.delete(oldest[0])
  }
}

const keyOf = (evidence: Evidence): string => {
  const { number, sender } = accusedBy(evidence)
  return `${number} ${sender}`
}

/** keccak256 of the encoding: its name in gossip. */
export const evidenceHash = (evidence: Evidence): Hex => keccak256Hex(encodeEvidence(evidence))
