import type { Reason } from './disconnect-reasons.ts'

/** Peers that are connected or on their way, as counted when another one asks. */
export interface PlaceCounts {
  readonly inbound: number
  readonly outbound: number
  readonly reserved: number
  /** Not reserved ones of the candidate's address. */
  readonly sameAddress: number
}

export interface PlaceLimits {
  readonly inbound: number
  readonly outbound: number
  readonly reserved: number
  readonly perAddress: number
}

export interface Candidate {
  readonly inbound: boolean
  /** A committee member, or a peer the operator named: it never stands behind others. */
  readonly reserved: boolean
  /** The operator's own machine: its nodes share an address. */
  readonly loopback: boolean
}

export type Place = 'reserved' | 'inbound' | 'outbound'

/** The place a peer gets, or why there is none. */
export const placeFor = (
  { inbound, reserved, loopback }: Candidate,
  counts: PlaceCounts,
  limits: PlaceLimits,
): { readonly place: Place } | { readonly refused: Reason } => {
  if (reserved && counts.reserved < limits.reserved) return { place: 'reserved' }
  if (!loopback && counts.sameAddress >= limits.perAddress) return { refused: 'tooManyFromAddress' }
  const place = inbound ? 'inbound' : 'outbound'
  return counts[place] < limits[place] ? { place } : { refused: 'tooManyPeers' }
}
