import { hexToBytes } from '@tandem/base/bytes.ts'
import { CONSENSUS_BOUNDS } from '../../config/protocol-bounds.ts'
import { type Certificate, certificateItem, readCertificate } from '../../primitives/consensus/certificate.ts'
import type { StatusMessage } from '../../primitives/consensus/message.ts'
import { decodeProposalHead, encodeProposalHead, type ProposalHead } from '../../primitives/consensus/proposal.ts'
import { decodeVote, encodeVote, type Vote } from '../../primitives/consensus/vote.ts'
import { encodeRlp, encodeRlpList, uintItem } from '../../primitives/rlp/rlp.ts'
import type { RlpCursor } from '../../primitives/rlp/rlp-cursor.ts'
import { listCodec, malformedMessage, plainCodec, rawList, type WireCodec } from './payload-codec.ts'

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
