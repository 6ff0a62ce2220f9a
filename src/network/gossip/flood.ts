import { bytesToHex } from '@tandem/base/bytes.ts'
import { sha256 } from '../../crypto/sha256.ts'
import type { PeerId } from '../../primitives/peer-id.ts'
import { encodeWireMessage, type Peer } from '../peer/peer.ts'
import type { PeerSet } from '../peer/peer-set.ts'
import type { WireMessage } from '../wire/frames.ts'

type FloodListener = (encoded: Uint8Array, from: PeerId) => void

/**
 * Creates the gossip of one kind of small message, whole to all peers that may lack it, as requests would be larger. A listener that verified
 * one rebroadcasts it.
 */
export const createFlood = (hub: PeerSet, kind: 'evidence' | 'proofHeader') => {
  const listeners = new Set<FloodListener>()
  return {
    broadcast(encoded: Uint8Array): void {
      const hash = bytesToHex(sha256(encoded))
      let wire: WireMessage | undefined
      for (const peer of hub.peers()) {
        if (peer.items.has(hash)) continue
        wire ??= encodeWireMessage(kind, encoded)
        // An item beyond the pace of the peer is offered again at the next block.
        if (peer.sendWire(kind, wire)) peer.items.set(hash, true)
      }
    },

    onReceived(listener: FloodListener): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },

    received(peer: Peer, encoded: Uint8Array): void {
      peer.items.set(bytesToHex(sha256(encoded)), true)
      for (const listener of listeners) listener(encoded, peer.id)
    },

    misbehaved: (id: PeerId, reason: string): void => hub.blameId(id, 'forged', reason),
  }
}
