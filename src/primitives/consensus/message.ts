import type { Hex } from '../../util/bytes.ts'
import type { Block } from '../block.ts'
import type { Certificate } from './certificate.ts'
import { type Proposal, type ProposalHead, proposalHead } from './proposal.ts'
import type { Vote } from './vote.ts'

/** What a node has of its open height, so that others resend only what it lacks (docs/design/consensus.md#state-machine). Not signed: the channel is. */
export interface StatusMessage {
  readonly type: 'status'
  readonly number: number
  readonly round: number
  readonly hasProposal: boolean
  /** Senders of prepares and commits of `round`, and of round changes to `round` or above; bit i of byte i>>3 = committee index i. */
  readonly prepares: Uint8Array
  readonly commits: Uint8Array
  readonly roundChanges: Uint8Array
  /** A block this node needs and lacks. */
  readonly wanted: Hex | null
}

/** A finished height for a node that is behind. */
export interface DecidedMessage {
  readonly type: 'decided'
  readonly block: Block
  readonly certificate: Certificate
}

/** The answer to `wanted`. */
export interface BodyMessage {
  readonly type: 'body'
  readonly block: Block
}

export type SignedMessage = Proposal | Vote
/** The signed part of a message: a proposal stands without its block. */
export type SignedHead = ProposalHead | Vote
export type ConsensusMessage = SignedMessage | StatusMessage | DecidedMessage | BodyMessage

/** Height a message belongs to. */
export const messageHeight = (message: ConsensusMessage): number =>
  message.type === 'decided' || message.type === 'body' ? message.block.header.number : message.number

export const signedHead = (message: SignedMessage): SignedHead =>
  message.type === 'proposal' ? proposalHead(message) : message
