import type { Offence } from '../core/peer-scores.ts'
import type { Peer } from '../peer/peer.ts'

/** The connected peers, as gossip needs them. */
export interface PeerHub {
  peers(): readonly Peer[]
  peer(id: string): Peer | undefined
  blame(peer: Peer, offence: Offence, detail: string): void
  /** The same for a peer that may have left meanwhile. */
  blameId(id: string, offence: Offence, detail: string): void
  /** Puts an exception that came of what a peer said, in work that goes on by itself, to the peer's account. */
  failed(peer: Peer, message: string, error: unknown): void
  /** Whether a peer is on the consensus channels: a member by proof, or a relay the operator trusts. */
  isNeighbour(peer: Peer): boolean
  /** Between 0 and 1. */
  random(): number
}

/** Peers in random order. */
export const shuffled = (peers: readonly Peer[], random: () => number): Peer[] => {
  const out = [...peers]
  for (let at = out.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1))
    const [here, there] = [out[at] as Peer, out[other] as Peer]
    out[at] = there
    out[other] = here
  }
  return out
}

/** How many of the peers get a whole item at once; the rest learn its name and ask (as eth/68 does). */
export const pushTargetCount = (peers: number): number => Math.ceil(Math.sqrt(peers))
