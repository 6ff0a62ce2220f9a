import { type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import { keccak256Hex } from '../../crypto/hash.ts'
import type { Block } from '../block.ts'
import { decodeOrMalformed } from '../rlp/malformed.ts'
import { encodeRlp, type RlpItem, uintItem } from '../rlp/rlp.ts'
import { readWholeList } from '../rlp/rlp-cursor.ts'
import {
  blockVoteItem,
  type Prepare,
  type RoundChangePayload,
  readPrepare,
  readRoundChangePayload,
  readSigned,
  readVotes,
  roundChangePayloadItem,
  type SignedVote,
  type SigningDomain,
  signingDigest,
} from './vote.ts'

/** Justification of a proposal above round 0; both lists are empty in round 0 (docs/design/consensus.md#proposals). */
export interface Justification {
  readonly roundChanges: readonly RoundChangePayload[]
  /** Quorum of prepares of the highest prepared round; empty when nothing was prepared. */
  readonly prepares: readonly Prepare[]
}

/** Block proposed for (number, round). The signature covers the block's hash and the hash of the justification. */
export interface Proposal extends SignedVote, Justification {
  readonly type: 'proposal'
  readonly block: Block
}

/** Proposal without its block, which is stored and sent as separate bytes. */
export interface ProposalHead extends SignedVote, Justification {
  readonly type: 'proposal'
  readonly blockHash: Hex
}

/** Zero in round 0, else keccak256 of the RLP of the two lists. */
export const justificationHash = (round: number, justification: Justification): Hex =>
  round === 0 ? ZERO_HASH : keccak256Hex(encodeRlp(justificationItems(justification)))

const justificationItems = ({ roundChanges, prepares }: Justification): RlpItem[] => [
  roundChanges.map(roundChangePayloadItem),
  prepares.map(blockVoteItem),
]

export const proposalDigest = (
  domain: SigningDomain,
  proposal: Pick<ProposalHead, 'number' | 'round' | 'blockHash' | 'roundChanges' | 'prepares'>,
): Uint8Array =>
  proposalDigestFromHash(domain, { ...proposal, justificationHash: justificationHash(proposal.round, proposal) })

/** Digest of a proposal from the hash of its justification: a signature can be verified without the lists. */
export const proposalDigestFromHash = (
  domain: SigningDomain,
  claim: {
    readonly number: number
    readonly round: number
    readonly blockHash: Hex
    readonly justificationHash: Hex
  },
): Uint8Array =>
  signingDigest(domain, 'proposal', claim, [hexToBytes(claim.blockHash), hexToBytes(claim.justificationHash)])

export const proposalHead = ({ block, ...signed }: Proposal): ProposalHead => ({ ...signed, blockHash: block.hash })

/** [number, round, block hash, sender, signature, round changes, prepares] */
export const encodeProposalHead = (head: ProposalHead): Uint8Array =>
  encodeRlp([
    uintItem(head.number),
    uintItem(head.round),
    hexToBytes(head.blockHash),
    uintItem(head.sender),
    head.signature,
    ...justificationItems(head),
  ])

/** Strict; signatures are views of `bytes`. Checks form only. Throws PROPOSAL_MALFORMED. */
export const decodeProposalHead = (bytes: Uint8Array): ProposalHead =>
  decodeOrMalformed('PROPOSAL_MALFORMED', () =>
    readWholeList(bytes, cursor => ({
      type: 'proposal',
      number: cursor.safeUint(),
      round: cursor.safeUint(),
      blockHash: cursor.hex(32),
      ...readSigned(cursor),
      roundChanges: readVotes(cursor, readRoundChangePayload),
      prepares: readVotes(cursor, readPrepare),
    })),
  )
