import { encodeEvidence } from './codec.ts'
import { accusedBy, type Evidence } from './evidence.ts'

interface EvidencePoolLimits {
  readonly items: number
  /** Evidence older than both is of no use any more (reference/consensus.md 6). */
  readonly maxAgeBlocks: number
  readonly maxAgeSeconds: number
}

interface EvidenceSelection {
  readonly upTo: number
  readonly maxBytes: number
  readonly maxItems: number
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
    const { number, sender } = accusedBy(evidence)
    if (this.has(number, sender)) return false
    if (this.#entries.size >= this.#limits.items) this.#dropOldest()
    this.#entries.set(keyOf(number, sender), { number, seenAt, encoded: encodeEvidence(evidence) })
    return true
  }

  /** Whether anything is held against a member at a height. */
  has(number: number, sender: number): boolean {
    return this.#entries.has(keyOf(number, sender))
  }

  encodedOf(number: number, sender: number): Uint8Array | undefined {
    return this.#entries.get(keyOf(number, sender))?.encoded
  }

  /** Encoded evidence of heights up to `upTo`, oldest first, within a size and a number of pieces. */
  select({ upTo, maxBytes, maxItems }: EvidenceSelection): readonly Uint8Array[] {
    const chosen: Uint8Array[] = []
    let bytes = 0
    for (const { number, encoded } of [...this.#entries.values()].sort((a, b) => a.number - b.number)) {
      if (number > upTo || chosen.length >= maxItems) break
      if (bytes + encoded.byteLength > maxBytes) continue
      bytes += encoded.byteLength
      chosen.push(encoded)
    }
    return chosen
  }

  /** A block held it: the accused is dealt with. */
  included(evidence: Evidence): void {
    const { number, sender } = accusedBy(evidence)
    this.#entries.delete(keyOf(number, sender))
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

const keyOf = (number: number, sender: number): string => `${number} ${sender}`
