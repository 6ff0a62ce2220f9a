import type { DisconnectReason } from './disconnect-reasons.ts'

/** Counts of connected and connecting peers, for the admission of another one. */
export interface SlotCounts {
  readonly inbound: number
  readonly outbound: number
  readonly reserved: number
  /** Peers without a reserved slot at the candidate's address. */
  readonly sameAddress: number
}

export interface SlotLimits {
  readonly inbound: number
  readonly outbound: number
  readonly reserved: number
  readonly perAddress: number
}

interface SlotRequest {
  readonly inbound: boolean
  /** A committee member, or a peer named by the operator: it takes precedence over others. */
  readonly reserved: boolean
  /** The operator's own machine, whose nodes share an address. */
  readonly loopback: boolean
}

export type PeerSlot = 'reserved' | 'inbound' | 'outbound'

/** Assigns a slot to a peer, or returns the reason why there is none. */
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
