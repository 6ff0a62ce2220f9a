import { PROOF_CHAIN_LIMITS } from '../../config/limits/chain.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { SNAPSHOT_LIMITS } from '../../config/limits/sync.ts'
import { CONSENSUS_BOUNDS } from '../../config/protocol-bounds.ts'
import { PROOF_HEADER_BYTES } from '../../primitives/proof-header.ts'
import { sealedCodec } from '../wire/consensus.ts'
import { emptyCodec } from '../wire/control.ts'
import { chunkCodec, chunkRequestCodec, codesCodec, manifestCodec } from '../wire/snapshot.ts'
import {
  announcementCodec,
  blockHashesCodec,
  blocksCodec,
  evidenceCodec,
  hashesCodec,
  proofHeaderCodec,
  rangeCodec,
  receiptsCodec,
} from '../wire/sync.ts'
import { ANSWER_BYTES, ANSWER_QUOTA, declareMessage, KIB, LIST_OVERHEAD, MIB, quota } from './message-spec.ts'

/** Messages about final blocks, their receipts, evidence, snapshots and the proof chain. */
export const SYNC_MESSAGES = {
  newBlockHash: declareMessage({
    id: 48,
    channel: 'sync',
    maxBytes: 16 * KIB,
    quota: quota(50, 200),
    codec: announcementCodec,
    from: 'anyone',
    summary: 'A final block, by hash and certificate',
  }),
  newBlock: declareMessage({
    id: 49,
    channel: 'sync',
    maxBytes: CONSENSUS_BOUNDS.proposalBytes,
    quota: quota(100, 400),
    codec: sealedCodec,
    from: 'anyone',
    summary: 'A final block, whole: to the square root of the peers',
  }),
  evidence: declareMessage({
    id: 50,
    channel: 'sync',
    maxBytes: CONSENSUS_BOUNDS.evidenceBytes + LIST_OVERHEAD,
    quota: quota(10, 100),
    codec: evidenceCodec,
    from: 'anyone',
    summary: 'Evidence against a validator, relayed by nodes that verified it',
  }),
  getBlocks: declareMessage({
    id: 51,
    channel: 'sync',
    maxBytes: 32,
    quota: quota(25, 50),
    codec: rangeCodec,
    from: 'anyone',
    summary: 'Requests blocks from a number on',
  }),
  blocks: declareMessage({
    id: 52,
    channel: 'sync',
    maxBytes: ANSWER_BYTES,
    quota: ANSWER_QUOTA,
    codec: blocksCodec,
    from: 'anyone',
    summary: 'Blocks with their certificates, ascending',
  }),
  getReceipts: declareMessage({
    id: 53,
    channel: 'sync',
    maxBytes: NETWORK_LIMITS.receiptsPerRequest * 33 + LIST_OVERHEAD,
    quota: quota(10, 40),
    codec: blockHashesCodec,
    from: 'anyone',
    summary: 'Requests the receipts of blocks, by hash',
  }),
  receipts: declareMessage({
    id: 54,
    channel: 'sync',
    // The logs of one block can be twelve megabytes (docs/design/evm-rules.md#limits: gas pays for them).
    maxBytes: NETWORK_LIMITS.answerBytes + 14 * MIB,
    quota: ANSWER_QUOTA,
    codec: receiptsCodec,
    from: 'anyone',
    summary: 'Encoded receipts of each block, in the order of the request',
  }),
  getManifest: declareMessage({
    id: 55,
    channel: 'sync',
    maxBytes: 1,
    quota: quota(0.2, 5),
    codec: emptyCodec,
    from: 'anyone',
    summary: 'Requests the newest snapshot',
  }),
  manifest: declareMessage({
    id: 56,
    channel: 'sync',
    // A storage of one part: owner, prefix and reference; a deep prefix is rare, and adds a byte per nibble.
    maxBytes: NETWORK_LIMITS.snapshotChunks * 72 + 16 * KIB,
    quota: ANSWER_QUOTA,
    codec: manifestCodec,
    from: 'anyone',
    summary: 'Content of the snapshot',
  }),
  getChunk: declareMessage({
    id: 57,
    channel: 'sync',
    maxBytes: 64,
    quota: quota(50, 100),
    codec: chunkRequestCodec,
    from: 'anyone',
    summary: 'Requests a chunk of a snapshot',
  }),
  chunk: declareMessage({
    id: 58,
    channel: 'sync',
    maxBytes: NETWORK_LIMITS.chunkBytes + LIST_OVERHEAD,
    quota: ANSWER_QUOTA,
    codec: chunkCodec,
    from: 'anyone',
    summary: 'The chunk',
  }),
  getCodes: declareMessage({
    id: 59,
    channel: 'sync',
    maxBytes: SNAPSHOT_LIMITS.codes * 33 + LIST_OVERHEAD,
    quota: quota(10, 40),
    codec: hashesCodec(SNAPSHOT_LIMITS.codes),
    from: 'anyone',
    summary: 'Requests codes of contracts by hash',
  }),
  codes: declareMessage({
    id: 60,
    channel: 'sync',
    maxBytes: ANSWER_BYTES,
    quota: ANSWER_QUOTA,
    codec: codesCodec,
    from: 'anyone',
    summary: 'Codes, in the order of the request',
  }),
  proofHeader: declareMessage({
    id: 61,
    channel: 'sync',
    maxBytes: PROOF_HEADER_BYTES + 8,
    // A chain of pending headers at once for a new peer, then about one a minute.
    quota: quota(2, 2 * PROOF_CHAIN_LIMITS.pendingDepth),
    codec: proofHeaderCodec,
    from: 'anyone',
    summary: 'A header of the proof chain that no block includes yet, passed on by each node that finds it valid',
  }),
} as const
