import type { Hex } from '@tandem/base/bytes.ts'
import type { SignedHead } from '../../primitives/consensus/message.ts'
import { justificationHash, type ProposalHead, proposalDigestFromHash } from '../../primitives/consensus/proposal.ts'
import {
  blockVoteDigest,
  type Commit,
  type Prepare,
  type RoundChange,
  type RoundChangePayload,
  roundChangeDigest,
  type SignedVote,
  type SigningDomain,
} from '../../primitives/consensus/vote.ts'
import type { Committee } from '../committee.ts'

/** Signed content of a proposal: block and justification by their hashes. */
export interface ProposalClaim extends SignedVote {
  readonly type: 'proposal'
  readonly blockHash: Hex
  readonly justificationHash: Hex
}

/** One statement signed by one member, without anything the signature does not cover. */
export type Statement = ProposalClaim | Prepare | Commit | RoundChangePayload

/** Returns true when the committee member named as the sender signed this; of a proposal with its lists, only its own part is checked. */
export type SignatureCheck = (signed: Statement | ProposalHead, committee: Committee) => boolean

/** Digest that a statement's signature covers. */
export const statementDigest = (domain: SigningDomain, statement: Statement): Uint8Array => {
  switch (statement.type) {
    case 'proposal':
      return proposalDigestFromHash(domain, statement)
    case 'prepare':
    case 'commit':
      return blockVoteDigest(domain, statement)
    case 'roundChange':
      return roundChangeDigest(domain, statement)
  }
}

/** Returns true when two statements of one kind and round have the same content. */
export const isSameStatement = (a: Statement, b: Statement): boolean => textOf(a) === textOf(b)

const textOf = (statement: Statement): string => {
  switch (statement.type) {
    case 'proposal':
      return `${statement.blockHash} ${statement.justificationHash}`
    case 'prepare':
    case 'commit':
      return statement.blockHash
    case 'roundChange':
      return statement.prepared === null ? '' : `${statement.prepared.round} ${statement.prepared.blockHash}`
  }
}

/** Returns all signed statements of a message: its own and those of others that it carries. */
export const statementsFromMessage = (message: SignedHead): readonly Statement[] => {
  switch (message.type) {
    case 'proposal':
      return [claimFromProposal(message), ...message.roundChanges, ...message.prepares]
    case 'roundChange':
      return [payloadOf(message), ...message.prepares]
    default:
      return [message]
  }
}

export const claimFromProposal = (head: ProposalHead): ProposalClaim => ({
  type: 'proposal',
  number: head.number,
  round: head.round,
  sender: head.sender,
  signature: head.signature,
  blockHash: head.blockHash,
  justificationHash: justificationHash(head.round, head),
})

const payloadOf = ({ prepares: _, ...payload }: RoundChange): RoundChangePayload => payload
