import type { Hex } from '../../util/bytes.ts'

/** Transaction that took longer than this node's blocks allow, with the end of its quarantine in unix milliseconds. */
export interface QuarantinedTransaction {
  readonly hash: Hex
  readonly untilMs: number
}

/** Hashes of transactions excluded from blocks for a while. Bounded: the oldest is evicted. */
export class TransactionQuarantine {
  readonly #limit: number
  /** In insertion order. */
  readonly #untilMs = new Map<Hex, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#untilMs.size
  }

  untilMs(hash: Hex): number | undefined {
    return this.#untilMs.get(hash)
  }

  /** Returns the evicted hash. */
  add({ hash, untilMs }: QuarantinedTransaction): Hex | undefined {
    this.#untilMs.delete(hash)
    this.#untilMs.set(hash, untilMs)
    if (this.#untilMs.size <= this.#limit) return undefined
    const [oldest] = this.#untilMs.keys()
    if (oldest !== undefined) this.#untilMs.delete(oldest)
    return oldest
  }

  /** Removes and returns the hashes whose time is over. */
  expire(nowMs: number): readonly Hex[] {
    const over = [...this.#untilMs].filter(([, untilMs]) => untilMs <= nowMs).map(([hash]) => hash)
    for (const hash of over) this.#untilMs.delete(hash)
    return over
  }

  clear(): void {
    this.#untilMs.clear()
  }

  *all(): Generator<QuarantinedTransaction, void, undefined> {
    for (const [hash, untilMs] of this.#untilMs) yield { hash, untilMs }
  }
}
