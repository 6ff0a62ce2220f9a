import { LIMITS } from '../../config/limits.ts'
import { sha256 } from '../../crypto/sha256.ts'
import { asBuffer } from '../../util/bytes.ts'
import { Lru } from '../../util/lru.ts'
import { type Peer, wireOf } from '../peer/peer.ts'
import type { EvidencePort } from '../ports.ts'
import type { Hub } from './hub.ts'

/** Proofs against validators, to everybody; passed on by those who find them true. */
export class EvidenceGossip {
  readonly #hub: Hub
  readonly #port: EvidencePort | undefined
  readonly #seen = new Lru<string, true>(LIMITS.network.seenEvidence)

  constructor(hub: Hub, port: EvidencePort | undefined) {
    this.#hub = hub
    this.#port = port
  }

  announce(evidence: Uint8Array): void {
    this.#seen.set(nameOf(evidence), true)
    this.#spread(evidence, null)
  }

  received(peer: Peer, evidence: Uint8Array): void {
    const name = nameOf(evidence)
    if (this.#seen.has(name) || this.#port === undefined) return
    const verdict = this.#port.receive(evidence, peer.id)
    // What cannot be judged yet may be worth something later.
    if (verdict !== 'pointless') this.#seen.set(name, true)
    if (verdict === 'false') this.#hub.blame(peer, 'falsehood', 'evidence that proves nothing')
    else if (verdict === 'true') this.#spread(evidence, peer)
  }

  #spread(evidence: Uint8Array, from: Peer | null): void {
    const wire = wireOf('evidence', evidence)
    for (const peer of this.#hub.peers()) if (peer !== from) peer.sendWire('evidence', wire)
  }
}

const nameOf = (evidence: Uint8Array): string => asBuffer(sha256(evidence)).toString('latin1')
