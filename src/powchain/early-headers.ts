import type { ProofHeader } from '../primitives/proof-header.ts'
import { proofWork } from '../rules/proof/proof-target.ts'
import type { Hex } from '../util/bytes.ts'

/**
 * Headers whose parent or anchor is not known yet, in bounded number. When there are too many, the one with the least work is dropped, of
 * equal ones the oldest: a flood of easy headers evicts no harder one.
 */
export class EarlyHeaders {
  readonly #limit: number
  /** In order of arrival. */
  readonly #headers = new Map<Hex, ProofHeader>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#headers.size
  }

  has(id: Hex): boolean {
    return this.#headers.has(id)
  }

  add(id: Hex, header: ProofHeader): void {
    this.#headers.set(id, header)
    if (this.#headers.size <= this.#limit) return
    let least: { readonly id: Hex; readonly work: bigint } | undefined
    for (const [each, kept] of this.#headers) {
      const work = workOf(kept)
      if (least === undefined || work < least.work) least = { id: each, work }
    }
    if (least !== undefined) this.#headers.delete(least.id)
  }

  delete(id: Hex): void {
    this.#headers.delete(id)
  }

  clear(): void {
    this.#headers.clear()
  }

  entries(): IterableIterator<[Hex, ProofHeader]> {
    return this.#headers.entries()
  }
}

/** Claimed work, which the seal of the header meets. */
const workOf = ({ version, target }: ProofHeader): bigint => proofWork(version === 2 ? 2 : 1, target)
