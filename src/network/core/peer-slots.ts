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

interface InboundPeer {
  readonly id: string
  /** Its address as it is counted; null for the operator's own machine. */
  readonly group: string | null
}

/**
 * Returns the inbound peer that makes room for a newcomer when all slots are taken; undefined when there is none. It is the newest of the
 * address that has most, when that still has no fewer than the newcomer's own address then: so two addresses never take turns.
 */
export const peerToEvict = (peers: readonly InboundPeer[], sameAddress: number): string | undefined => {
  const counts = new Map<string, number>()
  for (const { group } of peers) if (group !== null) counts.set(group, (counts.get(group) ?? 0) + 1)
  const most = Math.max(0, ...counts.values())
  if (most < sameAddress + 2) return undefined
  return peers.findLast(({ group }) => group !== null && counts.get(group) === most)?.id
}
