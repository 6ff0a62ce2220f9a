import { drawn } from '@tandem/base/random.ts'
import type { Offence } from '../core/peer-scores.ts'
import type { Peer } from './peer.ts'

/** Connected peers, as gossip uses them. */
export interface PeerHub {
  peers(): readonly Peer[]
  peer(id: string): Peer | undefined
  blame(peer: Peer, offence: Offence, detail: string): void
  /** Like `blame`, for a peer that may have left meanwhile. */
  blameId(id: string, offence: Offence, detail: string): void
  /** Charges an exception in asynchronous work to the peer whose message caused it. */
  failed(peer: Peer, message: string, error: unknown): void
  /** Returns true when a peer is on the consensus channels: a proven member, or a relay that the operator or a member named. */
  isNeighbour(peer: Peer): boolean
  /** Returns true when a peer proved to be a member. */
  isMember(peer: Peer): boolean
  /** Returns true for a relay that this node's operator named. */
  isOwnRelay(peer: Peer): boolean
  /** Returns a number between 0 and 1. */
  random(): number
}

/** Returns the peers in random order. */
export const shuffled = (peers: readonly Peer[], random: () => number): Peer[] =>
  drawn([...peers], peers.length, random)

/** Number of peers that get a whole item at once; the others get its hash and request it (as in eth/68). */
export const pushTargetCount = (peers: number): number => Math.ceil(Math.sqrt(peers))
