import { subscriberOf, wideGroupsOf } from '@tandem/base/address.ts'
import type { DisconnectReason } from './disconnect-reasons.ts'

/** Counts of connected and connecting peers, for the admission of another one. */
export interface SlotCounts {
  readonly inbound: number
  readonly outbound: number
  readonly reserved: number
  /** Peers without a reserved slot at the candidate's address. */
  readonly sameAddress: number
}

type SlotLimits = Readonly<Record<'inbound' | 'outbound' | 'reserved' | 'perAddress', number>>

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

/** Returns the networks of an address, widest first: /16, /24 and itself; of IPv6 /32, /48 and /64. */
export const networksOf = (address: string): readonly string[] => {
  const subscriber = subscriberOf(address)
  const wider = wideGroupsOf(subscriber)
  return wider === undefined ? [subscriber] : [wider.wide, wider.narrow, subscriber]
}

/** Something that an address holds. */
interface Holding {
  /** Networks of the address, widest first. */
  readonly networks: readonly string[]
}

/**
 * Returns the holdings from which one gives way to a newcomer: those of the widest network that has more than the newcomer's, by at least
 * `lead`, narrowed to the largest part of it; empty when the newcomer's own networks have most. Networks are compared from the widest on,
 * since a /64 or a /24 costs an attacker nothing who has a /32 or a /16, and narrower ones within the newcomer's own wider one.
 */
export const largestShare = <T extends Holding>(
  holdings: readonly T[],
  newcomer: readonly string[],
  lead: number,
): readonly T[] => {
  let around = holdings
  for (const [level, own] of newcomer.entries()) {
    const [most = []] = partsAt(around, level)
    around = around.filter(({ networks }) => networks[level] === own)
    if (most.length < around.length + lead) continue
    return [level + 1, level + 2].reduce((share, at) => {
      const [largest = [], second = []] = partsAt(share, at)
      return largest.length > second.length ? largest : share
    }, most)
  }
  return []
}

/** Returns the holdings by their network of one level, the largest part first. */
const partsAt = <T extends Holding>(holdings: readonly T[], level: number): readonly (readonly T[])[] =>
  [...Map.groupBy(holdings, ({ networks }) => networks[level]).values()].sort((a, b) => b.length - a.length)

/**
 * Returns the inbound peer that makes room for a newcomer when all slots are taken; undefined when there is none. It is the newest of the
 * network that has most, when that still has no fewer than the newcomer's own then: so two networks never take turns.
 */
export const peerToEvict = (
  peers: readonly (Holding & { readonly id: string })[],
  newcomer: readonly string[],
): string | undefined => largestShare(peers, newcomer, 2).at(-1)?.id

/** Number of peers that get a whole item at once; the others get its hash and request it (as in eth/68). */
export const pushTargetCount = (peers: number): number => Math.ceil(Math.sqrt(peers))
