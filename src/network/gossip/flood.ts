import { bytesToHex } from '@tandem/base/bytes.ts'
import { sha256 } from '../../crypto/sha256.ts'
import type { PeerId } from '../../primitives/peer-id.ts'
import { encodeWireMessage, type Peer } from '../peer/peer.ts'
import type { PeerSet } from '../peer/peer-set.ts'

type FloodListener = (encoded: Uint8Array, from: PeerId) => void

/**
 * Gossip of one kind of small message, whole to all peers that may lack it, as requests would be larger. A listener that verified one
 * rebroadcasts it.
 */
export class Flood {
  readonly #hub: PeerSet
  readonly #kind: 'evidence' | 'proofHeader'
  readonly #listeners = new Set<FloodListener>()

  constructor(hub: PeerSet, kind: 'evidence' | 'proofHeader') {
    this.#hub = hub
    this.#kind = kind
  }

  broadcast(encoded: Uint8Array): void {
    const hash = bytesToHex(sha256(encoded))
    let wire: ReturnType<typeof encodeWireMessage<'evidence' | 'proofHeader'>> | undefined
    for (const peer of this.#hub.peers()) {
      if (peer.items.has(hash)) continue
      wire ??= encodeWireMessage(this.#kind, encoded)
      // An item beyond the pace of the peer is offered again at the next block.
      if (peer.sendWire(this.#kind, wire)) peer.items.set(hash, true)
    }
  }

  onReceived(listener: FloodListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  received(peer: Peer, encoded: Uint8Array): void {
    peer.items.set(bytesToHex(sha256(encoded)), true)
    for (const listener of this.#listeners) listener(encoded, peer.id)
  }

  misbehaved(id: PeerId, reason: string): void {
    this.#hub.blameId(id, 'forged', reason)
  }
}
