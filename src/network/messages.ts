import { PROOF_CHAIN_LIMITS } from '../config/limits/chain.ts'
import { NETWORK_LIMITS } from '../config/limits/network.ts'
import { SNAPSHOT_LIMITS } from '../config/limits/sync.ts'
import { BLOCK_BOUNDS, CONSENSUS_BOUNDS } from '../config/protocol-bounds.ts'
import { PROOF_HEADER_BYTES } from '../primitives/proof-header.ts'
import type { Quota } from '../util/token-bucket.ts'
import type { ChannelName } from './wire/channels.ts'
import { bodyCodec, proposalCodec, sealedCodec, statusCodec, voteCodec } from './wire/consensus.ts'
import { disconnectCodec, emptyCodec, helloCodec, linksCodec, pingCodec, recordsCodec } from './wire/control.ts'
import type { WireCodec } from './wire/payload-codec.ts'
import { chunkCodec, chunkRequestCodec, codesCodec, manifestCodec } from './wire/snapshot.ts'
import {
  announcementCodec,
  blockHashesCodec,
  blocksCodec,
  evidenceCodec,
  hashesCodec,
  proofHeaderCodec,
  rangeCodec,
  receiptsCodec,
} from './wire/sync.ts'
import { announcedCodec, requestedCodec, transactionsCodec } from './wire/transactions.ts'

/** Version of the messages and their meaning; nodes of different versions do not connect. */
export const NETWORK_PROTOCOL_VERSION = 3
/** Negotiated in the TLS handshake (ALPN). */
export const ALPN = `tandem/${NETWORK_PROTOCOL_VERSION}`

/** Declaration of one kind of message. */
interface MessageSpec<T> {
  /** Id on the wire; never reused for another meaning. */
  readonly id: number
  readonly channel: ChannelName
  /** Limit of the payload. */
  readonly maxBytes: number
  /** Quota of one peer; a message counts once, and once more for each frame's worth of bytes (peer.ts). */
  readonly quota: Quota
  readonly codec: WireCodec<T>
  /** Permitted senders; the handshake comes before anything else. */
  readonly from: 'anyone' | 'committee' | 'handshake'
  readonly summary: string
}

const message = <T>(spec: MessageSpec<T>): MessageSpec<T> => spec
const each = (perSecond: number, burst: number): Quota => ({ perSecond, burst })
/** Responses are bounded by the requests, not by a rate. */
const ASKED = each(0, 0)

const KIB = 1024
const MIB = 1024 * KIB
/** Beyond the soft limit a response holds one item more, at most a whole block. */
const ANSWER_BYTES = NETWORK_LIMITS.answerBytes + CONSENSUS_BOUNDS.proposalBytes
/** Largest encoding overhead of a list of strings. */
const FRAME = KIB

export const MESSAGES = {
  hello: message({
    id: 0,
    channel: 'control',
    maxBytes: 2 * KIB,
    quota: each(1, 1),
    codec: helloCodec,
    from: 'handshake',
    summary: 'Identity of the node, its chain, and the validator it represents',
  }),
  ready: message({
    id: 1,
    channel: 'control',
    maxBytes: 1,
    quota: each(1, 1),
    codec: emptyCodec,
    from: 'handshake',
    summary: 'The hello was accepted',
  }),
  disconnect: message({
    id: 2,
    channel: 'control',
    maxBytes: 16,
    quota: each(1, 1),
    codec: disconnectCodec,
    from: 'handshake',
    summary: 'Why this side closes the connection now',
  }),
  ping: message({
    id: 3,
    channel: 'control',
    maxBytes: 128,
    quota: each(1, 5),
    codec: pingCodec,
    from: 'anyone',
    summary: 'Head and earliest block; to be answered',
  }),
  pong: message({
    id: 4,
    channel: 'control',
    maxBytes: 128,
    quota: ASKED,
    codec: pingCodec,
    from: 'anyone',
    summary: 'The same of the other side',
  }),
  getRecords: message({
    id: 5,
    channel: 'control',
    maxBytes: 1,
    quota: each(0.1, 3),
    codec: emptyCodec,
    from: 'anyone',
    summary: 'Requests peer records',
  }),
  records: message({
    id: 6,
    channel: 'control',
    maxBytes: NETWORK_LIMITS.recordsPerAnswer * NETWORK_LIMITS.recordBytes + FRAME,
    quota: ASKED,
    codec: recordsCodec,
    from: 'anyone',
    summary: 'Signed records of nodes, by chance',
  }),
  links: message({
    id: 7,
    channel: 'control',
    maxBytes: 4 * KIB,
    quota: each(20, 200),
    codec: linksCodec,
    from: 'committee',
    summary: 'Validators the sender is connected to, at each change: others relay to those it does not reach',
  }),
  vote: message({
    id: 16,
    channel: 'votes',
    maxBytes: CONSENSUS_BOUNDS.voteBytes,
    // Eight for each member of the largest committee (docs/design/network.md#limits).
    quota: each(8 * CONSENSUS_BOUNDS.committee, 32 * CONSENSUS_BOUNDS.committee),
    codec: voteCodec,
    from: 'committee',
    summary: 'Prepare, commit or round change',
  }),
  status: message({
    id: 17,
    channel: 'votes',
    maxBytes: 128,
    quota: each(100, 400),
    codec: statusCodec,
    from: 'committee',
    summary: 'Messages the sender has of its open height, and the block it lacks',
  }),
  proposal: message({
    id: 32,
    channel: 'proposals',
    maxBytes: CONSENSUS_BOUNDS.proposalBytes,
    quota: each(200, 800),
    codec: proposalCodec,
    from: 'committee',
    summary: 'A block offered for a round, with its justification',
  }),
  body: message({
    id: 33,
    channel: 'proposals',
    maxBytes: CONSENSUS_BOUNDS.proposalBytes,
    quota: each(100, 400),
    codec: bodyCodec,
    from: 'committee',
    summary: 'Block requested by a status',
  }),
  decided: message({
    id: 34,
    channel: 'proposals',
    maxBytes: CONSENSUS_BOUNDS.proposalBytes,
    quota: each(200, 800),
    codec: sealedCodec,
    from: 'committee',
    summary: 'A finished height, for a member that is behind',
  }),
  newBlockHash: message({
    id: 48,
    channel: 'sync',
    maxBytes: 16 * KIB,
    quota: each(50, 200),
    codec: announcementCodec,
    from: 'anyone',
    summary: 'A final block, by hash and certificate',
  }),
  newBlock: message({
    id: 49,
    channel: 'sync',
    maxBytes: CONSENSUS_BOUNDS.proposalBytes,
    quota: each(100, 400),
    codec: sealedCodec,
    from: 'anyone',
    summary: 'A final block, whole: to the square root of the peers',
  }),
  evidence: message({
    id: 50,
    channel: 'sync',
    maxBytes: CONSENSUS_BOUNDS.evidenceBytes + FRAME,
    quota: each(10, 100),
    codec: evidenceCodec,
    from: 'anyone',
    summary: 'Evidence against a validator, relayed by nodes that verified it',
  }),
  getBlocks: message({
    id: 51,
    channel: 'sync',
    maxBytes: 32,
    quota: each(25, 50),
    codec: rangeCodec,
    from: 'anyone',
    summary: 'Requests blocks from a number on',
  }),
  blocks: message({
    id: 52,
    channel: 'sync',
    maxBytes: ANSWER_BYTES,
    quota: ASKED,
    codec: blocksCodec,
    from: 'anyone',
    summary: 'Blocks with their certificates, ascending',
  }),
  getReceipts: message({
    id: 53,
    channel: 'sync',
    maxBytes: NETWORK_LIMITS.receiptsPerRequest * 33 + FRAME,
    quota: each(10, 40),
    codec: blockHashesCodec,
    from: 'anyone',
    summary: 'Requests the receipts of blocks, by hash',
  }),
  receipts: message({
    id: 54,
    channel: 'sync',
    // The logs of one block can be twelve megabytes (docs/design/evm-rules.md#limits: gas pays for them).
    maxBytes: NETWORK_LIMITS.answerBytes + 14 * MIB,
    quota: ASKED,
    codec: receiptsCodec,
    from: 'anyone',
    summary: 'Encoded receipts of each block, in the order of the request',
  }),
  getManifest: message({
    id: 55,
    channel: 'sync',
    maxBytes: 1,
    quota: each(0.2, 5),
    codec: emptyCodec,
    from: 'anyone',
    summary: 'Requests the newest snapshot',
  }),
  manifest: message({
    id: 56,
    channel: 'sync',
    // A part: prefix and reference; a deep prefix is rare, and adds a byte per nibble.
    maxBytes: NETWORK_LIMITS.snapshotChunks * 48 + 16 * KIB,
    quota: ASKED,
    codec: manifestCodec,
    from: 'anyone',
    summary: 'Content of the snapshot',
  }),
  getChunk: message({
    id: 57,
    channel: 'sync',
    maxBytes: 64,
    quota: each(50, 100),
    codec: chunkRequestCodec,
    from: 'anyone',
    summary: 'Requests a chunk of a snapshot',
  }),
  chunk: message({
    id: 58,
    channel: 'sync',
    maxBytes: NETWORK_LIMITS.chunkBytes + FRAME,
    quota: ASKED,
    codec: chunkCodec,
    from: 'anyone',
    summary: 'The chunk',
  }),
  getCodes: message({
    id: 59,
    channel: 'sync',
    maxBytes: SNAPSHOT_LIMITS.codes * 33 + FRAME,
    quota: each(10, 40),
    codec: hashesCodec(SNAPSHOT_LIMITS.codes),
    from: 'anyone',
    summary: 'Requests codes of contracts by hash',
  }),
  codes: message({
    id: 60,
    channel: 'sync',
    maxBytes: ANSWER_BYTES,
    quota: ASKED,
    codec: codesCodec,
    from: 'anyone',
    summary: 'Codes, in the order of the request',
  }),
  proofHeader: message({
    id: 61,
    channel: 'sync',
    maxBytes: PROOF_HEADER_BYTES + 8,
    // A chain of pending headers at once for a new peer, then about one a minute.
    quota: each(2, 2 * PROOF_CHAIN_LIMITS.pendingDepth),
    codec: proofHeaderCodec,
    from: 'anyone',
    summary: 'A header of the proof chain that no block includes yet, passed on by each node that finds it valid',
  }),
  transactionHashes: message({
    id: 64,
    channel: 'transactions',
    maxBytes: NETWORK_LIMITS.announcedHashes * 33 + FRAME,
    quota: each(60, 240),
    codec: announcedCodec,
    from: 'anyone',
    summary: 'Hashes of transactions the sender has',
  }),
  newTransactions: message({
    id: 65,
    channel: 'transactions',
    maxBytes: NETWORK_LIMITS.batchBytes + BLOCK_BOUNDS.transactionBytes + FRAME,
    quota: each(60, 240),
    codec: transactionsCodec,
    from: 'anyone',
    summary: 'Transactions, whole: to validators and to the square root of the other peers',
  }),
  getTransactions: message({
    id: 66,
    channel: 'transactions',
    maxBytes: NETWORK_LIMITS.requestedHashes * 33 + FRAME,
    quota: each(20, 100),
    codec: requestedCodec,
    from: 'anyone',
    summary: 'Requests announced transactions',
  }),
  transactions: message({
    id: 67,
    channel: 'transactions',
    maxBytes: NETWORK_LIMITS.batchBytes + BLOCK_BOUNDS.transactionBytes + FRAME,
    quota: ASKED,
    codec: transactionsCodec,
    from: 'anyone',
    summary: 'Those of them the sender has, as many as fit',
  }),
} as const satisfies Record<string, MessageSpec<unknown>>

export type MessageName = keyof typeof MESSAGES
/** Payload type of a message. */
export type Payload<Name extends MessageName> = (typeof MESSAGES)[Name] extends MessageSpec<infer T> ? T : never

/** Requests with their responses. */
export const ANSWER_NAMES = {
  ping: 'pong',
  getRecords: 'records',
  getBlocks: 'blocks',
  getReceipts: 'receipts',
  getManifest: 'manifest',
  getChunk: 'chunk',
  getCodes: 'codes',
  getTransactions: 'transactions',
} as const satisfies Partial<Record<MessageName, MessageName>>
export type RequestName = keyof typeof ANSWER_NAMES
export type AnswerName<Name extends RequestName> = Payload<(typeof ANSWER_NAMES)[Name]>

const BY_ID = new Map<number, MessageName>(Object.entries(MESSAGES).map(([name, { id }]) => [id, name as MessageName]))

/** Returns undefined when no message has this id. */
export const messageFromId = (id: number): MessageName | undefined => BY_ID.get(id)

/** Returns the declaration without the type of its payload. */
export const messageSpec = (name: MessageName): MessageSpec<unknown> => MESSAGES[name] as MessageSpec<unknown>
