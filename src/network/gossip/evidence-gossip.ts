import { sha256 } from '../../crypto/sha256.ts'
import type { PeerId } from '../../primitives/peer-id.ts'
import { bytesToHex } from '../../util/bytes.ts'
import { encodeWireMessage, type Peer } from '../peer/peer.ts'
import type { EvidenceNetwork } from '../ports.ts'
import type { PeerHub } from './peer-hub.ts'

type Listener = Parameters<EvidenceNetwork['onEvidence']>[0]

/** Gossip of evidence to all peers that are not known to have it. The listener verifies it. */
export class EvidenceGossip implements EvidenceNetwork {
  readonly #hub: PeerHub
  readonly #listeners = new Set<Listener>()

  constructor(hub: PeerHub) {
    this.#hub = hub
  }

  broadcast(encoded: Uint8Array): void {
    const hash = bytesToHex(sha256(encoded))
    const wire = encodeWireMessage('evidence', encoded)
    for (const peer of this.#hub.peers()) {
      if (peer.items.has(hash)) continue
      peer.items.set(hash, true)
      peer.sendWire('evidence', wire)
    }
  }

  onEvidence(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  misbehaved(id: PeerId): void {
    this.#hub.blameId(id, 'forged', 'evidence that proves nothing')
  }

  received(peer: Peer, encoded: Uint8Array): void {
    peer.items.set(bytesToHex(sha256(encoded)), true)
    for (const listener of this.#listeners) listener(encoded, peer.id)
  }
}
