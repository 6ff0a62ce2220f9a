import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { PROOF_CHAIN_LIMITS } from '../../config/limits/chain.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { SNAPSHOT_LIMITS } from '../../config/limits/sync.ts'
import { CONSENSUS_BOUNDS } from '../../config/protocol-bounds.ts'
import { type Certificate, certificateItem, readCertificate } from '../../primitives/consensus/certificate.ts'
import { PROOF_HEADER_BYTES } from '../../primitives/proof-header.ts'
import { encodeRlp, encodeRlpList, uintItem } from '../../primitives/rlp/rlp.ts'
import {
  fixedBytes,
  listCodec,
  malformedMessage,
  stringCodec,
  stringsCodec,
  type WireCodec,
} from '../wire/payload-codec.ts'
import { chunkRequestCodec, manifestCodec } from '../wire/snapshot.ts'
import { readSealedBlock, type SealedBlock, sealedCodec } from './consensus-messages.ts'
import { emptyCodec } from './control-messages.ts'
import { ANSWER_BYTES, declareMessage, declareResponse, KIB, LIST_OVERHEAD, MIB, quota } from './message-spec.ts'

const { blocksPerRequest, receiptsPerRequest } = NETWORK_LIMITS

/** Final block: its certificate proves it without its body. */
export interface BlockAnnouncement {
  readonly number: number
  readonly hash: Hex
  readonly certificate: Certificate
}

const announcementCodec: WireCodec<BlockAnnouncement> = listCodec(
  ({ number, hash, certificate }) => encodeRlp([uintItem(number), hexToBytes(hash), certificateItem(certificate)]),
  cursor => ({ number: cursor.safeUint(), hash: cursor.hex(32), certificate: readCertificate(cursor) }),
)

export interface BlockRange {
  /** Number of the first block. */
  readonly from: number
  readonly count: number
}

const rangeCodec: WireCodec<BlockRange> = listCodec(
  ({ from, count }) => encodeRlp([uintItem(from), uintItem(count)]),
  cursor => {
    const range = { from: cursor.safeUint(), count: cursor.safeUint() }
    if (range.count < 1 || range.count > blocksPerRequest)
      throw malformedMessage(`1 to ${blocksPerRequest} blocks at once`)
    return range
  },
)

/** Ascending from the first block requested, as many as fit; none: the peer does not have it. */
const blocksCodec: WireCodec<readonly SealedBlock[]> = listCodec(
  blocks => encodeRlpList([encodeRlpList(blocks.map(sealedCodec.encode))]),
  cursor => cursor.items(() => cursor.list(readSealedBlock), blocksPerRequest),
)

export const hashesCodec = (limit: number): WireCodec<readonly Hex[]> =>
  listCodec(
    hashes => encodeRlp([hashes.map(hexToBytes)]),
    cursor => cursor.items(() => bytesToHex(fixedBytes(cursor, 32)), limit),
  )

/** Messages about final blocks, their receipts, evidence, snapshots and the proof chain. */
export const SYNC_MESSAGES = {
  newBlockHash: declareMessage('sync', 48, {
    maxBytes: 16 * KIB,
    quota: quota(50, 200),
    codec: announcementCodec,
    summary: 'A final block, by hash and certificate',
  }),
  newBlock: declareMessage('sync', 49, {
    maxBytes: CONSENSUS_BOUNDS.proposalBytes,
    quota: quota(100, 400),
    codec: sealedCodec,
    summary: 'A final block, whole: to the square root of the peers',
  }),
  evidence: declareMessage('sync', 50, {
    maxBytes: CONSENSUS_BOUNDS.evidenceBytes + LIST_OVERHEAD,
    quota: quota(10, 100),
    codec: stringCodec(CONSENSUS_BOUNDS.evidenceBytes),
    summary: 'Evidence against a validator, relayed by nodes that verified it',
  }),
  getBlocks: declareMessage('sync', 51, {
    maxBytes: 32,
    quota: quota(25, 50),
    codec: rangeCodec,
    summary: 'Requests blocks from a number on',
  }),
  blocks: declareResponse('sync', 52, {
    maxBytes: ANSWER_BYTES,
    codec: blocksCodec,
    summary: 'Blocks with their certificates, ascending',
  }),
  getReceipts: declareMessage('sync', 53, {
    maxBytes: NETWORK_LIMITS.receiptsPerRequest * 33 + LIST_OVERHEAD,
    quota: quota(10, 40),
    codec: hashesCodec(receiptsPerRequest),
    summary: 'Requests the receipts of blocks, by hash',
  }),
  receipts: declareResponse('sync', 54, {
    // The logs of one block can be twelve megabytes (docs/design/evm-rules.md#limits: gas pays for them).
    maxBytes: NETWORK_LIMITS.answerBytes + 14 * MIB,
    // Empty: the peer does not have them.
    codec: stringsCodec(receiptsPerRequest),
    summary: 'Encoded receipts of each block, in the order of the request',
  }),
  getManifest: declareMessage('sync', 55, {
    maxBytes: 1,
    quota: quota(0.2, 5),
    codec: emptyCodec,
    summary: 'Requests the newest snapshot',
  }),
  manifest: declareResponse('sync', 56, {
    // A storage of one part: owner, prefix and reference; a deep prefix is rare, and adds a byte per nibble.
    maxBytes: NETWORK_LIMITS.snapshotChunks * 72 + 16 * KIB,
    codec: manifestCodec,
    summary: 'Content of the snapshot',
  }),
  getChunk: declareMessage('sync', 57, {
    maxBytes: 64,
    quota: quota(50, 100),
    codec: chunkRequestCodec,
    summary: 'Requests a chunk of a snapshot',
  }),
  chunk: declareResponse('sync', 58, {
    maxBytes: NETWORK_LIMITS.chunkBytes + LIST_OVERHEAD,
    // Empty: the peer does not have it.
    codec: stringCodec(NETWORK_LIMITS.chunkBytes + LIST_OVERHEAD),
    summary: 'The chunk',
  }),
  getCodes: declareMessage('sync', 59, {
    maxBytes: SNAPSHOT_LIMITS.codes * 33 + LIST_OVERHEAD,
    quota: quota(10, 40),
    codec: hashesCodec(SNAPSHOT_LIMITS.codes),
    summary: 'Requests codes of contracts by hash',
  }),
  codes: declareResponse('sync', 60, {
    maxBytes: ANSWER_BYTES,
    // Ends at the first that the peer does not have.
    codec: stringsCodec(SNAPSHOT_LIMITS.codes),
    summary: 'Codes, in the order of the request',
  }),
  proofHeader: declareMessage('sync', 61, {
    maxBytes: PROOF_HEADER_BYTES + 8,
    // A chain of pending headers at once for a new peer, then about one a minute.
    quota: quota(2, 2 * PROOF_CHAIN_LIMITS.pendingDepth),
    codec: stringCodec(PROOF_HEADER_BYTES),
    summary: 'A header of the proof chain that no block includes yet, passed on by each node that finds it valid',
  }),
} as const
