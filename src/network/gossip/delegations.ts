import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import type { ValidatorSigner } from '../../primitives/consensus/vote.ts'
import { isValidProof, proveValidator } from '../identity/validator-proof.ts'
import type { Peer } from '../peer/peer.ts'
import type { PeerHub } from '../peer/peer-hub.ts'
import type { ChainDomain, ValidatorProof } from '../wire/control.ts'

interface DelegationsOptions {
  readonly hub: PeerHub
  readonly domain: ChainDomain
  readonly selfId: string
  readonly signer: ValidatorSigner | null
  /** Node ids that the operator of this validator names as its relays. */
  readonly relays: ReadonlySet<string>
}

/**
 * Statements of validators that a node relays for them. A hidden validator gives one to each relay it names; the relay shows it to all of
 * its peers, which then take consensus messages from it: no other operator has to name the relay.
 */
export class Delegations {
  readonly #options: DelegationsOptions
  /** Statements about this node, by member. */
  readonly #own = new Map<string, ValidatorProof>()
  /** Statements about this node by peers that are no members yet: anyone can make a key and sign one. */
  readonly #early = new WeakMap<Peer, ValidatorProof>()

  constructor(options: DelegationsOptions) {
    this.#options = options
  }

  joined(peer: Peer): void {
    const { signer, relays, domain } = this.#options
    for (const proof of this.#own.values()) peer.send('delegation', proof)
    if (signer !== null && relays.has(peer.id)) peer.send('delegation', proveValidator(signer, domain, peer.id, null))
  }

  /** Handles a statement about this node by its validator, or about the peer. */
  received(peer: Peer, proof: ValidatorProof): void {
    const { hub, domain, selfId } = this.#options
    const { address } = proof
    if (peer.validator === address && isValidProof(proof, domain, selfId, null)) {
      this.#early.set(peer, proof)
      this.tick()
      return
    }
    if (peer.relayFor.has(address) || peer.relayFor.size >= NETWORK_LIMITS.relayedValidators) return
    const relays = hub.peers().filter(({ relayFor }) => relayFor.has(address)).length
    if (relays >= NETWORK_LIMITS.relaysPerValidator) return
    if (isValidProof(proof, domain, peer.id, null)) peer.relayFor.add(address)
    else hub.blame(peer, 'falsehood', 'a delegation that the validator did not sign')
  }

  /** Called regularly: shows the statements of peers that have become members. */
  tick(): void {
    const { hub } = this.#options
    for (const peer of hub.peers()) {
      const proof = this.#early.get(peer)
      if (proof === undefined || !hub.isMember(peer)) continue
      this.#early.delete(peer)
      if (this.#own.has(proof.address) || this.#own.size >= NETWORK_LIMITS.relayedValidators) continue
      this.#own.set(proof.address, proof)
      for (const other of hub.peers()) if (other !== peer) other.send('delegation', proof)
    }
  }
}
