import { LIMITS } from '../../config/limits.ts'
import { type Block, decodeBlockHeader } from '../../primitives/block.ts'
import type { BlockClaim } from '../../primitives/block-claim.ts'
import type { BlockCodec } from '../../primitives/block-codec.ts'
import type { MessageAcceptance } from '../../primitives/consensus/acceptance.ts'
import type { PeerId } from '../../primitives/peer-id.ts'
import { isCoded } from '../../util/errors.ts'
import type { Peer } from '../peer/peer.ts'
import type { SealedBlock, WireProposal } from '../wire/consensus.ts'
import type { PeerHub } from './peer-hub.ts'

export interface BlockClaimsOptions {
  readonly hub: PeerHub
  readonly blocks: BlockCodec
  /** Asks consensus. `reject` has cost the peer already. */
  readonly judge: (claim: BlockClaim, from: PeerId) => MessageAcceptance
}

/**
 * Blocks of consensus messages on their way in. The claim beside a block (who signed it, or who sealed it) is judged first, then the
 * header must be the one the claim names, and only then is the body read and are its senders recovered. Whoever sends another body
 * under a true header is at fault: an honest node passes on what it has checked.
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
    return this.#options.judge(claim, peer.id) === 'accept'
  }

  /** Blocks of one peer are decoded a few at a time; what comes beyond is said again by its author. */
  async #decode(peer: Peer, bytes: Uint8Array, done: (block: Block) => void): Promise<void> {
    if (peer.decoding >= LIMITS.network.decoding) return
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
      // No thread had room for it: that says nothing of the block, and its author says it again.
      if (error.code !== 'RECOVERY_UNAVAILABLE') hub.blame(peer, 'forged', `a body of another header: ${error.message}`)
      return undefined
    }
  }
}

const headerOf = (block: Uint8Array) => decodeBlockHeader(block, LIMITS.block.headerBytes)
