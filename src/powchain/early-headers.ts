import type { Hex } from '@tandem/base/bytes.ts'
import { PROOF_CHAIN_LIMITS } from '../config/limits/chain.ts'
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
 * Keeps a header whose parent or anchor is not known yet, or whose work waits to be verified. When there are too many, one of the sender
 * that has most is dropped: the one with the least work, of equal ones the oldest. So a flood evicts no header of another sender, and none
 * of easy headers a harder one.
 */
export const addEarly = (headers: Map<Hex, EarlyHeader>, id: Hex, early: EarlyHeader): void => {
  headers.set(id, early)
  if (headers.size <= PROOF_CHAIN_LIMITS.earlyHeaders) return
  const counts = new Map<PeerId | undefined, number>()
  for (const { from } of headers.values()) counts.set(from, (counts.get(from) ?? 0) + 1)
  const most = Math.max(...counts.values())
  let least: { readonly id: Hex; readonly work: bigint } | undefined
  for (const [each, { header, from }] of headers) {
    if (counts.get(from) !== most) continue
    // Claimed work, which the seal of the header meets.
    const work = proofWork(header.version === 2 ? 2 : 1, header.target)
    if (least === undefined || work < least.work) least = { id: each, work }
  }
  if (least !== undefined) headers.delete(least.id)
}
