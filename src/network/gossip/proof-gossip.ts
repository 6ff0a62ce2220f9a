import { sha256 } from '../../crypto/sha256.ts'
import type { PeerId } from '../../primitives/peer-id.ts'
import { bytesToHex } from '../../util/bytes.ts'
import { encodeWireMessage, type Peer } from '../peer/peer.ts'
import type { ProofNetwork } from '../ports.ts'
import type { PeerHub } from './peer-hub.ts'

type Listener = Parameters<ProofNetwork['onProofHeader']>[0]

/**
 * Gossip of proof headers to all peers that are not known to have them. Sent whole: a header is smaller than the announcement, request and
 * response that would save sending it twice. The listener verifies it.
 */
export class ProofGossip implements ProofNetwork {
  readonly #hub: PeerHub
  readonly #listeners = new Set<Listener>()

  constructor(hub: PeerHub) {
    this.#hub = hub
  }

  broadcast(encoded: Uint8Array): void {
    const hash = bytesToHex(sha256(encoded))
    let wire: ReturnType<typeof encodeWireMessage<'proofHeader'>> | undefined
    for (const peer of this.#hub.peers()) {
      if (peer.items.has(hash)) continue
      peer.items.set(hash, true)
      wire ??= encodeWireMessage('proofHeader', encoded)
      peer.sendWire('proofHeader', wire)
    }
  }

  onProofHeader(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  misbehaved(id: PeerId, reason: string): void {
    this.#hub.blameId(id, 'forged', `proof header: ${reason}`)
  }

  received(peer: Peer, encoded: Uint8Array): void {
    peer.items.set(bytesToHex(sha256(encoded)), true)
    for (const listener of this.#listeners) listener(encoded, peer.id)
  }
}
