import type { Hex } from '@tandem/base/bytes.ts'
import type { PeerId } from '../primitives/peer-id.ts'
import type { ProofHeader } from '../primitives/proof-header.ts'
import { proofWork } from '../rules/proof/proof-target.ts'

export interface EarlyHeader {
  readonly header: ProofHeader
  /** Peer that sent it; undefined for a header of this node's miners. */
  readonly from: PeerId | undefined
  /** True while its work waits to be verified: nothing else is missing. */
  readonly isReady: boolean
}

/**
 * Headers whose parent or anchor is not known yet, or whose work waits to be verified, in bounded number. When there are too many, one of
 * the sender that has most is dropped: the one with the least work, of equal ones the oldest. So a flood evicts no header of another
 * sender, and none of easy headers a harder one.
 */
export class EarlyHeaders {
  readonly #limit: number
  /** In order of arrival. */
  readonly #headers = new Map<Hex, EarlyHeader>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#headers.size
  }

  has(id: Hex): boolean {
    return this.#headers.has(id)
  }

  add(id: Hex, early: EarlyHeader): void {
    this.#headers.set(id, early)
    if (this.#headers.size <= this.#limit) return
    const counts = new Map<PeerId | undefined, number>()
    for (const { from } of this.#headers.values()) counts.set(from, (counts.get(from) ?? 0) + 1)
    const most = Math.max(...counts.values())
    let least: { readonly id: Hex; readonly work: bigint } | undefined
    for (const [each, { header, from }] of this.#headers) {
      if (counts.get(from) !== most) continue
      const work = workOf(header)
      if (least === undefined || work < least.work) least = { id: each, work }
    }
    if (least !== undefined) this.#headers.delete(least.id)
  }

  delete(id: Hex): void {
    this.#headers.delete(id)
  }

  /** Drops what a peer sent. */
  forget(from: PeerId): void {
    for (const [id, early] of this.#headers) if (early.from === from) this.#headers.delete(id)
  }

  clear(): void {
    this.#headers.clear()
  }

  entries(): IterableIterator<[Hex, EarlyHeader]> {
    return this.#headers.entries()
  }
}

/** Claimed work, which the seal of the header meets. */
const workOf = ({ version, target }: ProofHeader): bigint => proofWork(version === 2 ? 2 : 1, target)
