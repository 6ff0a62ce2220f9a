import type { DisconnectReason } from './disconnect-reasons.ts'

/** Peers that are connected or on their way, as counted when another one asks. */
export interface SlotCounts {
  readonly inbound: number
  readonly outbound: number
  readonly reserved: number
  /** Not reserved ones of the candidate's address. */
  readonly sameAddress: number
}

export interface SlotLimits {
  readonly inbound: number
  readonly outbound: number
  readonly reserved: number
  readonly perAddress: number
}

export interface SlotRequest {
  readonly inbound: boolean
  /** A committee member, or a peer the operator named: it never stands behind others. */
  readonly reserved: boolean
  /** The operator's own machine: its nodes share an address. */
  readonly loopback: boolean
}

export type PeerSlot = 'reserved' | 'inbound' | 'outbound'

/** The place a peer gets, or why there is none. */
export const assignSlot = (
  { inbound, reserved, loopback }: SlotRequest,
  counts: SlotCounts,
  limits: SlotLimits,
): { readonly place: PeerSlot } | { readonly refused: DisconnectReason } => {
  if (reserved && counts.reserved < limits.reserved) return { place: 'reserved' }
  if (!loopback && counts.sameAddress >= limits.perAddress) return { refused: 'tooManyFromAddress' }
  const place = inbound ? 'inbound' : 'outbound'
  return counts[place] < limits[place] ? { place } : { refused: 'tooManyPeers' }
}
