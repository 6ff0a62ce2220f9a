import type { PeerId } from '../../primitives/peer-id.ts'
import type { EvidenceNetwork } from '../messages/ports.ts'
import type { Peer } from '../peer/peer.ts'
import type { PeerHub } from '../peer/peer-hub.ts'
import { Flood, type FloodListener } from './flood.ts'

/** Gossip of evidence. */
export class EvidenceGossip implements EvidenceNetwork {
  readonly #hub: PeerHub
  readonly #flood: Flood

  constructor(hub: PeerHub) {
    this.#hub = hub
    this.#flood = new Flood(hub, 'evidence')
  }

  broadcast(encoded: Uint8Array): void {
    this.#flood.broadcast(encoded)
  }

  onEvidence(listener: FloodListener): () => void {
    return this.#flood.onReceived(listener)
  }

  received(peer: Peer, encoded: Uint8Array): void {
    this.#flood.received(peer, encoded)
  }

  misbehaved(id: PeerId): void {
    this.#hub.blameId(id, 'forged', 'evidence that proves nothing')
  }
}
