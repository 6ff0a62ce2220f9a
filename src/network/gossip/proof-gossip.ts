import type { PeerId } from '../../primitives/peer-id.ts'
import type { ProofNetwork } from '../messages/ports.ts'
import type { Peer } from '../peer/peer.ts'
import type { PeerHub } from '../peer/peer-hub.ts'
import { Flood, type FloodListener } from './flood.ts'

/** Gossip of proof headers. */
export class ProofGossip implements ProofNetwork {
  readonly #hub: PeerHub
  readonly #flood: Flood

  constructor(hub: PeerHub) {
    this.#hub = hub
    this.#flood = new Flood(hub, 'proofHeader')
  }

  broadcast(encoded: Uint8Array): void {
    this.#flood.broadcast(encoded)
  }

  onProofHeader(listener: FloodListener): () => void {
    return this.#flood.onReceived(listener)
  }

  received(peer: Peer, encoded: Uint8Array): void {
    this.#flood.received(peer, encoded)
  }

  misbehaved(id: PeerId, reason: string): void {
    this.#hub.blameId(id, 'forged', `proof header: ${reason}`)
  }
}
