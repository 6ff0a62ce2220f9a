import { hexToBytes } from '@tandem/base/bytes.ts'
import { CONSENSUS_BOUNDS } from '../../config/protocol-bounds.ts'
import { type Certificate, certificateItem, readCertificate } from '../../primitives/consensus/certificate.ts'
import type { StatusMessage } from '../../primitives/consensus/message.ts'
import { decodeProposalHead, encodeProposalHead, type ProposalHead } from '../../primitives/consensus/proposal.ts'
import { decodeVote, encodeVote, type Vote } from '../../primitives/consensus/vote.ts'
import { encodeRlp, encodeRlpList, uintItem } from '../../primitives/rlp/rlp.ts'
import type { RlpCursor } from '../../primitives/rlp/rlp-cursor.ts'
import { listCodec, malformedMessage, plainCodec, rawList, type WireCodec } from '../wire/payload-codec.ts'
import { declareMessage, quota } from './message-spec.ts'

/** Blocks are sent as RLP: decoding one recovers senders, which happens elsewhere and later. */
export interface WireProposal {
  readonly head: ProposalHead
  readonly block: Uint8Array
}

/** Block with the seals of a quorum. */
export interface SealedBlock {
  readonly block: Uint8Array
  readonly certificate: Certificate
}

const BITMAP_BYTES = Math.ceil(CONSENSUS_BOUNDS.committee / 8)

export const voteCodec: WireCodec<Vote> = plainCodec(encodeVote, decodeVote)

export const statusCodec: WireCodec<StatusMessage> = listCodec(
  statusMessage =>
    encodeRlp([
      uintItem(statusMessage.number),
      uintItem(statusMessage.round),
      uintItem(statusMessage.hasProposal ? 1 : 0),
      statusMessage.prepares,
      statusMessage.commits,
      statusMessage.roundChanges,
      statusMessage.wanted === null ? new Uint8Array(0) : hexToBytes(statusMessage.wanted),
    ]),
  cursor => {
    const number = cursor.safeUint()
    const round = cursor.safeUint()
    const flag = cursor.safeUint()
    if (flag > 1) throw malformedMessage('a flag is 0 or 1')
    return {
      type: 'status',
      number,
      round,
      hasProposal: flag === 1,
      prepares: cursor.boundedBytes(BITMAP_BYTES),
      commits: cursor.boundedBytes(BITMAP_BYTES),
      roundChanges: cursor.boundedBytes(BITMAP_BYTES),
      wanted: cursor.hexOrNull(32),
    }
  },
)

/** [head, block] */
export const proposalCodec: WireCodec<WireProposal> = listCodec(
  ({ head, block }) => encodeRlpList([encodeProposalHead(head), block]),
  cursor => ({ head: decodeProposalHead(rawList(cursor)), block: rawList(cursor) }),
)

/** [block] */
export const bodyCodec: WireCodec<Uint8Array> = listCodec(block => encodeRlpList([block]), rawList)

/** Reads the items of a sealed block inside its list. */
export const readSealedBlock = (cursor: RlpCursor): SealedBlock => ({
  block: rawList(cursor),
  certificate: readCertificate(cursor),
})

/** [block, certificate] */
export const sealedCodec: WireCodec<SealedBlock> = listCodec(
  ({ block, certificate }) => encodeRlpList([block, encodeRlp(certificateItem(certificate))]),
  readSealedBlock,
)

/** Messages of the committee: votes and proposals. */
export const CONSENSUS_MESSAGES = {
  vote: declareMessage('votes', 16, {
    maxBytes: CONSENSUS_BOUNDS.voteBytes,
    // Eight for each member of the largest committee (docs/design/network.md#limits).
    quota: quota(8 * CONSENSUS_BOUNDS.committee, 32 * CONSENSUS_BOUNDS.committee),
    codec: voteCodec,
    from: 'committee',
    summary: 'Prepare, commit or round change',
  }),
  status: declareMessage('votes', 17, {
    maxBytes: 128,
    quota: quota(100, 400),
    codec: statusCodec,
    from: 'committee',
    summary: 'Messages the sender has of its open height, and the block it lacks',
  }),
  proposal: declareMessage('proposals', 32, {
    maxBytes: CONSENSUS_BOUNDS.proposalBytes,
    quota: quota(200, 800),
    codec: proposalCodec,
    from: 'committee',
    summary: 'A block offered for a round, with its justification',
  }),
  body: declareMessage('proposals', 33, {
    maxBytes: CONSENSUS_BOUNDS.proposalBytes,
    quota: quota(100, 400),
    codec: bodyCodec,
    from: 'committee',
    summary: 'Block requested by a status',
  }),
  decided: declareMessage('proposals', 34, {
    maxBytes: CONSENSUS_BOUNDS.proposalBytes,
    quota: quota(200, 800),
    codec: sealedCodec,
    from: 'committee',
    summary: 'A finished height, for a member that is behind',
  }),
} as const
