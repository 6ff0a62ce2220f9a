import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { drawCommittee } from '../../../src/consensus/committee.ts'
import { addressFromPrivateKey, sign } from '../../../src/crypto/signature.ts'
import type { ChainDomain } from '../../../src/network/wire/control.ts'
import { blockVoteDigest, type Prepare } from '../../../src/primitives/consensus/vote.ts'
import { settledMembers } from '../consensus/eligible.ts'
import { seedWithoutProofs } from '../consensus/seed-without-proofs.ts'
import { RawPeer } from './raw-peer.ts'

/** A validator that a test has the key of: no node holds it back from signing what contradicts itself. */
export class DoubleSigner {
  readonly address: Hex
  readonly #key: Uint8Array
  readonly #domain: ChainDomain
  readonly #index: number

  /** `council`: all validators of genesis in its order, whose committee decides the blocks of the first cycle. */
  constructor(key: Uint8Array, domain: ChainDomain, council: readonly Hex[]) {
    this.address = addressFromPrivateKey(key)
    this.#key = key
    this.#domain = domain
    const seed = hexToBytes(seedWithoutProofs(domain.genesisHash, 0))
    this.#index = drawCommittee(settledMembers(council), {
      committeeSize: council.length,
      seed,
      first: 1,
    }).members.indexOf(this.address)
  }

  prepare(number: number, blockHash: Hex): Prepare {
    const vote = { type: 'prepare', number, round: 0, blockHash } as const
    return { ...vote, sender: this.#index, signature: sign(blockVoteDigest(this.#domain, vote), this.#key) }
  }

  /** Proves who it is to the node at this port. */
  meet(port: number): Promise<RawPeer> {
    const signer = { address: this.address, sign: (digest: Uint8Array) => sign(digest, this.#key) }
    return RawPeer.meet(port, {}, signer, { domain: this.#domain })
  }
}
