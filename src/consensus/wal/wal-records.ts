import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import type { Block, BlockCodec } from '../../primitives/block.ts'
import { type Certificate, certificateItem, readCertificate } from '../../primitives/consensus/certificate.ts'
import {
  decodeProposalHead,
  encodeProposalHead,
  type ProposalHead,
  proposalHead,
} from '../../primitives/consensus/proposal.ts'
import { blockVoteItem, decodeVote, encodeVote, readPrepare, readVotes } from '../../primitives/consensus/vote.ts'
import { decodeOrMalformed, malformed } from '../../primitives/rlp/malformed.ts'
import { encodeRlp, uintItem } from '../../primitives/rlp/rlp.ts'
import { type RlpCursor, readWholeList } from '../../primitives/rlp/rlp-cursor.ts'
import type { WalRecord } from '../core/types.ts'
import type { WalEntry } from './wal-format.ts'

/** Record types of the log; never reused for another meaning. */
const RECORD = { block: 1, round: 2, proposal: 3, signed: 4, prepared: 5, decided: 6, end: 7 } as const

export const encodeHeightRecord = (record: WalRecord, blocks: BlockCodec): WalEntry => ({
  type: RECORD[record.type],
  payload: payloadOf(record, blocks),
})

const payloadOf = (record: WalRecord, blocks: BlockCodec): Uint8Array => {
  switch (record.type) {
    case 'block':
      return blocks.encode(record.block)
    case 'round':
      return encodeRlp([uintItem(record.number), uintItem(record.round)])
    case 'proposal':
      return encodeProposalHead(proposalHead(record.proposal))
    case 'signed':
      return encodeVote(record.vote)
    case 'prepared': {
      const { round, blockHash, prepares } = record.certificate
      return encodeRlp([uintItem(record.number), uintItem(round), hexToBytes(blockHash), prepares.map(blockVoteItem)])
    }
    case 'decided':
      return encodeRlp([hexToBytes(record.block.hash), certificateItem(record.certificate)])
    case 'end':
      return encodeRlp([uintItem(record.number), hexToBytes(record.blockHash)])
  }
}

/** Returns the entries to read when all blocks up to `head` are committed: those after the last end of such a height. */
export const entriesAfter = (entries: readonly WalEntry[], head: number): readonly WalEntry[] => {
  const end = entries.findLastIndex(({ type, payload }) => {
    if (type !== RECORD.end) return false
    const record = decodeRecord(type, payload, new Map())
    return recordHeight(record) <= head
  })
  return entries.slice(end + 1)
}

/** Decodes the log's records and joins bodies to the records that name them. Throws on records this version does not know. */
export const decodeRecords = async (entries: readonly WalEntry[], codec: BlockCodec): Promise<readonly WalRecord[]> => {
  const blocks: Block[] = []
  for (const { type, payload } of entries) if (type === RECORD.block) blocks.push(await codec.decode(payload))
  return joinRecords(entries, () => blocks.shift() as Block)
}

/** Like `decodeRecords` with a synchronous block decoder. */
export const joinRecords = (
  entries: readonly WalEntry[],
  decodeBlock: (payload: Uint8Array) => Block,
): readonly WalRecord[] => {
  const bodies = new Map<Hex, Block>()
  return entries.map(({ type, payload }) => {
    if (type !== RECORD.block) return decodeRecord(type, payload, bodies)
    const block = decodeBlock(payload)
    bodies.set(block.hash, block)
    return { type: 'block', block }
  })
}

const decodeRecord = (type: number, payload: Uint8Array, bodies: ReadonlyMap<Hex, Block>): WalRecord => {
  switch (type) {
    case RECORD.proposal:
      return { type: 'proposal', proposal: withBody(decodeProposalHead(payload), bodies) }
    case RECORD.signed:
      return { type: 'signed', vote: decodeVote(payload) }
    case RECORD.round:
      return read(payload, cursor => ({ type: 'round', number: cursor.safeUint(), round: cursor.safeUint() }))
    case RECORD.prepared:
      return read(payload, readPrepared)
    case RECORD.decided:
      return read(payload, cursor => readDecided(cursor, bodies))
    case RECORD.end:
      return read(payload, cursor => ({ type: 'end', number: cursor.safeUint(), blockHash: cursor.hex(32) }))
    default:
      throw malformed('WAL_RECORD_MALFORMED', `no record has the type ${type}`)
  }
}

const readPrepared = (cursor: RlpCursor): WalRecord => {
  const number = cursor.safeUint()
  const round = cursor.safeUint()
  const blockHash = cursor.hex(32)
  return { type: 'prepared', number, certificate: { round, blockHash, prepares: readVotes(cursor, readPrepare) } }
}

const readDecided = (cursor: RlpCursor, bodies: ReadonlyMap<Hex, Block>): WalRecord => {
  const block = bodyOf(cursor.hex(32), bodies)
  const certificate: Certificate = readCertificate(cursor)
  return { type: 'decided', block, certificate }
}

const withBody = ({ blockHash, ...signed }: ProposalHead, bodies: ReadonlyMap<Hex, Block>) => ({
  ...signed,
  block: bodyOf(blockHash, bodies),
})

/** A body is always logged before the record that names it. */
const bodyOf = (hash: Hex, bodies: ReadonlyMap<Hex, Block>): Block => {
  const block = bodies.get(hash)
  if (block === undefined) throw malformed('WAL_RECORD_MALFORMED', `the body of ${hash} is not in the log`)
  return block
}

const read = (payload: Uint8Array, decode: (cursor: RlpCursor) => WalRecord): WalRecord =>
  decodeOrMalformed('WAL_RECORD_MALFORMED', () => readWholeList(payload, decode))

/** Returns the height a record belongs to. */
export const recordHeight = (record: WalRecord): number => {
  switch (record.type) {
    case 'block':
    case 'decided':
      return record.block.header.number
    case 'proposal':
      return record.proposal.number
    case 'signed':
      return record.vote.number
    default:
      return record.number
  }
}
