import { isCoded } from '@tandem/base/errors.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { BLOCK_BOUNDS } from '../../config/protocol-bounds.ts'
import { type Block, type BlockCodec, decodeBlockHeader } from '../../primitives/block.ts'
import type { BlockClaim, MessageAcceptance } from '../../primitives/consensus/message.ts'
import type { PeerId } from '../../primitives/peer-id.ts'
import type { SealedBlock, WireProposal } from '../messages/consensus-messages.ts'
import type { Peer } from '../peer/peer.ts'
import type { PeerSet } from '../peer/peer-set.ts'

interface BlockClaimsOptions {
  readonly hub: PeerSet
  readonly blocks: BlockCodec
  /** Asks consensus. For `reject` the peer's score was lowered already. */
  readonly validate: (claim: BlockClaim, from: PeerId) => MessageAcceptance
}

/**
 * Inbound blocks of consensus messages. The claim beside a block (its signature or seals) is checked first, then the header must
 * match the claim, and only then is the body decoded and its senders recovered. A peer that sends another body under a valid header
 * is at fault: an honest node relays only what it has checked.
 */
export class BlockClaims {
  readonly #options: BlockClaimsOptions

  constructor(options: BlockClaimsOptions) {
    this.#options = options
  }

  /** A proposal's signature covers the hash it names. */
  proposal(peer: Peer, { head, block }: WireProposal, done: (block: Block) => void): Promise<void> | undefined {
    if (!this.#isTrue(peer, { type: 'proposal', head })) return undefined
    if (headerOf(block).hash === head.blockHash) return this.#decode(peer, block, done)
    this.#options.hub.blame(peer, 'forged', 'proposal with another block')
    return undefined
  }

  body(peer: Peer, block: Uint8Array, done: (block: Block) => void): Promise<void> | undefined {
    const { hash: blockHash } = headerOf(block)
    return this.#isTrue(peer, { type: 'body', blockHash }) ? this.#decode(peer, block, done) : undefined
  }

  decided(peer: Peer, { block, certificate }: SealedBlock, done: (block: Block) => void): Promise<void> | undefined {
    const { header, hash: blockHash } = headerOf(block)
    const claim = { type: 'decided', number: header.number, blockHash, certificate } as const
    return this.#isTrue(peer, claim) ? this.#decode(peer, block, done) : undefined
  }

  #isTrue(peer: Peer, claim: BlockClaim): boolean {
    return this.#options.validate(claim, peer.id) === 'accept'
  }

  /** Decodes a few blocks of one peer at a time; excess ones are dropped, since their author resends them. */
  async #decode(peer: Peer, bytes: Uint8Array, done: (block: Block) => void): Promise<void> {
    if (peer.decoding >= NETWORK_LIMITS.decoding) return
    peer.decoding++
    try {
      const block = await this.#read(peer, bytes)
      if (block !== undefined) done(block)
    } finally {
      peer.decoding--
    }
  }

  async #read(peer: Peer, bytes: Uint8Array): Promise<Block | undefined> {
    const { blocks, hub } = this.#options
    try {
      return await blocks.decode(bytes)
    } catch (error) {
      if (!isCoded(error)) throw error
      // The recovery workers had no room: the block may be valid, and its author resends it.
      if (error.code !== 'RECOVERY_UNAVAILABLE') hub.blame(peer, 'forged', `a body of another header: ${error.message}`)
      return undefined
    }
  }
}

const headerOf = (block: Uint8Array) => decodeBlockHeader(block, BLOCK_BOUNDS.headerBytes)
