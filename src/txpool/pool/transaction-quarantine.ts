import type { Hex } from '../../util/bytes.ts'

/** A transaction that takes longer than a block of this node may, until when no block tries it, unix milliseconds. */
export interface QuarantinedTransaction {
  readonly hash: Hex
  readonly untilMs: number
}

/** Hashes of transactions that no block tries, each for a while. Bounded: the oldest makes room. */
export class TransactionQuarantine {
  readonly #limit: number
  /** In the order in which they came in. */
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

  /** Answers the hash that made room. */
  add({ hash, untilMs }: QuarantinedTransaction): Hex | undefined {
    this.#untilMs.delete(hash)
    this.#untilMs.set(hash, untilMs)
    if (this.#untilMs.size <= this.#limit) return undefined
    const [oldest] = this.#untilMs.keys()
    if (oldest !== undefined) this.#untilMs.delete(oldest)
    return oldest
  }

  /** Lets go of those whose time is over, and answers them. */
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
