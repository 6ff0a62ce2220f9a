import type { Hex } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import type { ValidatorSigner } from '../../primitives/consensus/vote.ts'
import { isValidProof, proveValidator } from '../identity/validator-proof.ts'
import type { ChainDomain, Delegation } from '../messages/control-messages.ts'
import type { Peer } from '../peer/peer.ts'
import type { PeerSet } from '../peer/peer-set.ts'

interface DelegationsOptions {
  readonly hub: PeerSet
  readonly domain: ChainDomain
  readonly selfId: string
  readonly signer: ValidatorSigner | null
  /** Node ids that the operator of this validator names as its relays. */
  readonly relays: ReadonlySet<string>
  /** Returns the number of the last block. */
  head(): number
}

/** Returns a validator's statement that a node relays for it, near a block. */
export const signDelegation = (
  signer: ValidatorSigner,
  domain: ChainDomain,
  id: string,
  number: number,
): Delegation => ({
  ...proveValidator(signer, domain, id, number),
  number,
})

/**
 * Statements of validators that a node relays for them. A hidden validator gives one to each relay it names; the relay shows it to all of
 * its peers, which then take consensus messages from it: no other operator has to name the relay. Its life is counted in blocks: it is
 * renewed as long as the validator is there, and none ends while the chain stands still.
 */
export class Delegations {
  readonly #options: DelegationsOptions
  /** Statements about this node, by member. */
  readonly #own = new Map<string, Delegation>()
  /** Statements about this node by peers that are no members yet: anyone can make a key and sign one. */
  readonly #early = new WeakMap<Peer, Delegation>()
  /** Newest statement sent to each peer, by validator. */
  readonly #shown = new WeakMap<Peer, Map<string, number>>()

  constructor(options: DelegationsOptions) {
    this.#options = options
  }

  joined(peer: Peer): void {
    const { signer, relays, domain, head } = this.#options
    for (const proof of this.#own.values())
      if (proof.address !== peer.validator) this.#show(peer, proof.address, proof.number, () => proof)
    if (signer === null || !relays.has(peer.id)) return
    const number = head() - (head() % (NETWORK_LIMITS.delegationBlocks / 2))
    this.#show(peer, signer.address, number, () => signDelegation(signer, domain, peer.id, number))
  }

  /** Handles a statement about this node by its validator, or about the peer. */
  received(peer: Peer, proof: Delegation): void {
    const { hub, domain, selfId } = this.#options
    const { address, number } = proof
    // One that is over was true once.
    if (this.#isOver(number)) return
    if (peer.validator === address && isValidProof(proof, domain, selfId, number)) {
      this.#early.set(peer, proof)
      this.tick()
      return
    }
    const last = peer.relayFor.get(address)
    if (last === undefined ? !this.#hasRoom(peer, address) : last >= number) return
    if (isValidProof(proof, domain, peer.id, number)) peer.relayFor.set(address, number)
    else hub.blame(peer, 'falsehood', 'a delegation that the validator did not sign')
  }

  /** Called regularly: ends statements, and shows new ones and those of peers that have become members. */
  tick(): void {
    const { hub } = this.#options
    for (const [address, { number }] of this.#own) if (this.#isOver(number)) this.#own.delete(address)
    for (const peer of hub.peers()) {
      for (const [address, number] of peer.relayFor) if (this.#isOver(number)) peer.relayFor.delete(address)
      const proof = this.#early.get(peer)
      if (proof === undefined || !hub.isMember(peer)) continue
      this.#early.delete(peer)
      const last = this.#own.get(proof.address)?.number
      if (last === undefined ? this.#own.size < NETWORK_LIMITS.relayedValidators : last < proof.number)
        this.#own.set(proof.address, proof)
    }
    for (const peer of hub.peers()) this.joined(peer)
  }

  #hasRoom(peer: Peer, address: Hex): boolean {
    const relays = this.#options.hub.peers().filter(({ relayFor }) => relayFor.has(address)).length
    return peer.relayFor.size < NETWORK_LIMITS.relayedValidators && relays < NETWORK_LIMITS.relaysPerValidator
  }

  #isOver(number: number): boolean {
    return number + NETWORK_LIMITS.delegationBlocks < this.#options.head()
  }

  /** Sends a statement unless the peer got one as new; one beyond its pace goes with a later call. */
  #show(peer: Peer, address: string, number: number, make: () => Delegation): void {
    const shown = getOrMake(this.#shown, peer, () => new Map<string, number>())
    if ((shown.get(address) ?? -1) < number && peer.send('delegation', make())) shown.set(address, number)
  }
}
