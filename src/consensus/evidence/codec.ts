import { hexToBytes } from '@tandem/base/bytes.ts'
import { undefinedIfCoded } from '@tandem/base/errors.ts'
import { CONSENSUS_BOUNDS } from '../../config/protocol-bounds.ts'
import { decodeProposalHead, encodeProposalHead } from '../../primitives/consensus/proposal.ts'
import {
  blockVoteItem,
  readPrepare,
  readRoundChangePayload,
  readSigned,
  roundChangePayloadItem,
  VOTE_TYPE_CODE,
} from '../../primitives/consensus/vote.ts'
import { decodeOrMalformed, malformed } from '../../primitives/rlp/malformed.ts'
import { encodeRlp, type RlpItem, uintItem } from '../../primitives/rlp/rlp.ts'
import { type RlpCursor, readWholeList } from '../../primitives/rlp/rlp-cursor.ts'
import type { Evidence } from './evidence.ts'
import type { ProposalClaim, Statement } from './statement.ts'

/** Kinds by their numbers in encoded evidence, which are never reused for another meaning. */
const KINDS = ['conflict', 'amnesia', 'unjustified', 'wrongProposer'] as const

/** Encodes evidence: [kind, statement, statement], [kind, statement], or [kind, encoded proposal head]. */
export const encodeEvidence = (evidence: Evidence): Uint8Array => {
  const kind = uintItem(KINDS.indexOf(evidence.kind))
  switch (evidence.kind) {
    case 'conflict':
    case 'amnesia':
      return encodeRlp([kind, statementItem(evidence.first), statementItem(evidence.second)])
    case 'unjustified':
      return encodeRlp([kind, encodeProposalHead(evidence.proposal)])
    case 'wrongProposer':
      return encodeRlp([kind, statementItem(evidence.proposal)])
  }
}

/** Decodes strictly and checks only the form: evidenceFault checks the proof. Throws EVIDENCE_MALFORMED. */
export const decodeEvidence = (bytes: Uint8Array): Evidence =>
  decodeOrMalformed('EVIDENCE_MALFORMED', () => readWholeList(bytes, readEvidence))

/** Decodes bytes from outside: undefined when they are malformed or too long. */
export const tryDecodeEvidence = (bytes: Uint8Array): Evidence | undefined => {
  if (bytes.byteLength > CONSENSUS_BOUNDS.evidenceBytes) return undefined
  return undefinedIfCoded(() => decodeEvidence(bytes))
}

const readEvidence = (cursor: RlpCursor): Evidence => {
  const kind = KINDS[cursor.safeUint()]
  switch (kind) {
    case 'conflict':
    case 'amnesia':
      return { kind, first: readStatement(cursor), second: readStatement(cursor) }
    case 'unjustified':
      return { kind, proposal: decodeProposalHead(cursor.bytes()) }
    case 'wrongProposer':
      return { kind, proposal: readStatement(cursor) }
    default:
      throw malformed('EVIDENCE_MALFORMED', 'no such kind of evidence')
  }
}

/** Encodes a statement: [type code, signed part]. */
const statementItem = (statement: Statement): RlpItem => [
  uintItem(VOTE_TYPE_CODE[statement.type]),
  signedItem(statement),
]

const signedItem = (statement: Statement): RlpItem => {
  switch (statement.type) {
    case 'prepare':
    case 'commit':
      return blockVoteItem(statement)
    case 'roundChange':
      return roundChangePayloadItem(statement)
    case 'proposal':
      return claimItem(statement)
  }
}

const claimItem = ({ number, round, blockHash, justificationHash, sender, signature }: ProposalClaim): RlpItem => [
  uintItem(number),
  uintItem(round),
  hexToBytes(blockHash),
  hexToBytes(justificationHash),
  uintItem(sender),
  signature,
]

const readStatement = (cursor: RlpCursor): Statement => cursor.list(() => readSignedItem(cursor, cursor.safeUint()))

const readSignedItem = (cursor: RlpCursor, code: number): Statement => {
  switch (code) {
    case VOTE_TYPE_CODE.proposal:
      return readClaim(cursor)
    case VOTE_TYPE_CODE.prepare:
      return readPrepare(cursor)
    case VOTE_TYPE_CODE.commit:
      return { ...readPrepare(cursor), type: 'commit' }
    case VOTE_TYPE_CODE.roundChange:
      return readRoundChangePayload(cursor)
    default:
      throw malformed('EVIDENCE_MALFORMED', `no statement has the code ${code}`)
  }
}

const readClaim = (cursor: RlpCursor): ProposalClaim =>
  cursor.list(() => {
    const number = cursor.safeUint()
    const round = cursor.safeUint()
    const hashes = { blockHash: cursor.hex(32), justificationHash: cursor.hex(32) }
    return { type: 'proposal', number, round, ...hashes, ...readSigned(cursor) }
  })
