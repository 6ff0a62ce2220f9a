import type { Hex } from '@tandem/base/bytes.ts'
import type { Block } from '../block.ts'
import type { Certificate } from './certificate.ts'
import { type Proposal, type ProposalHead, proposalHead } from './proposal.ts'
import type { Vote } from './vote.ts'

/** Known part of a consensus message with a block before the block's body is decoded. */
export type BlockClaim =
  | { readonly type: 'proposal'; readonly head: ProposalHead }
  | { readonly type: 'body'; readonly blockHash: Hex }
  | {
      readonly type: 'decided'
      readonly number: number
      readonly blockHash: Hex
      readonly certificate: Certificate
    }

/** Result of validating a message, as in gossipsub: accepted ones are relayed, rejected ones lower the score, ignored ones neither. */
export type MessageAcceptance = 'accept' | 'reject' | 'ignore'

/** State of a node's open height, not signed, so that others resend only what it lacks (docs/design/consensus.md#state-machine). */
export interface StatusMessage {
  readonly type: 'status'
  readonly number: number
  readonly round: number
  readonly hasProposal: boolean
  /** Senders of prepares and commits of `round`, and of round changes to `round` or above; bit i of byte i>>3 = committee index i. */
  readonly prepares: Uint8Array
  readonly commits: Uint8Array
  readonly roundChanges: Uint8Array
  /** Block this node needs and lacks. */
  readonly wanted: Hex | null
}

/** Decided block for a node that is behind. */
export interface DecidedMessage {
  readonly type: 'decided'
  readonly block: Block
  readonly certificate: Certificate
}

/** Response to `wanted`. */
interface BodyMessage {
  readonly type: 'body'
  readonly block: Block
}

export type SignedMessage = Proposal | Vote
/** Signed part of a message: a proposal without its block. */
export type SignedHead = ProposalHead | Vote
export type ConsensusMessage = SignedMessage | StatusMessage | DecidedMessage | BodyMessage

/** Height of a message. */
export const messageHeight = (message: ConsensusMessage): number =>
  message.type === 'decided' || message.type === 'body' ? message.block.header.number : message.number

export const signedHead = (message: SignedMessage): SignedHead =>
  message.type === 'proposal' ? proposalHead(message) : message
