import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { COUNCIL_BOUNDS } from '../../config/protocol-bounds.ts'
import { decodeOrMalformed } from '../../primitives/rlp/malformed.ts'
import { encodeRlp, type RlpItem, uintItem } from '../../primitives/rlp/rlp.ts'
import { RlpCursor } from '../../primitives/rlp/rlp-cursor.ts'
import { DISCONNECT_REASONS, type DisconnectReason, disconnectReasonFromCode } from '../core/disconnect-reasons.ts'
import {
  asciiBytes,
  asciiText,
  fixedBytes,
  listCodec,
  malformedMessage,
  stringsCodec,
  type WireCodec,
} from '../wire/payload-codec.ts'
import { declareMessage, declareResponse, KIB, LIST_OVERHEAD, quota } from './message-spec.ts'

/** Chain to which signatures are bound. */
export interface ChainDomain {
  readonly chainId: number
  readonly genesisHash: Hex
}

/** Last committed block of a node. */
export interface PeerHead {
  readonly number: number
  readonly hash: Hex
}

/** Validator signature that binds its key to one connection and one node (identity/validator-proof.ts). */
export interface ValidatorProof {
  readonly address: Hex
  /** r, s and recovery id, 65 bytes. */
  readonly signature: Uint8Array
}

/** First message of both sides (docs/design/network.md#handshake). */
export interface Hello {
  readonly version: number
  readonly chainId: number
  readonly genesisHash: Hex
  /** EIP-2124: checksum of genesis and passed forks, 4 bytes, and the next fork, 0 when none is known. */
  readonly forkHash: Hex
  readonly forkNext: number
  /** 64 hex digits; equal to the one it proved. */
  readonly nodeId: string
  /** Id of this process, 8 bytes, random at each start. */
  readonly instance: Hex
  readonly client: string
  readonly head: PeerHead
  /** First block it can serve. */
  readonly earliest: number
  /** Its own signed record; empty: it is not to be dialed. */
  readonly record: Uint8Array
  readonly proof: ValidatorProof | null
}

const headItem = ({ number, hash }: PeerHead): RlpItem => [uintItem(number), hexToBytes(hash)]
const readHead = (cursor: RlpCursor): PeerHead =>
  cursor.list(() => ({ number: cursor.safeUint(), hash: cursor.hex(32) }))

export const nodeIdItem = (id: string): Uint8Array => hexToBytes(`0x${id}`)
export const readNodeId = (cursor: RlpCursor): string => cursor.hex(32).slice(2)

export const proofItem = (proof: ValidatorProof | null): RlpItem =>
  proof === null ? [] : [hexToBytes(proof.address), proof.signature]
export const readProof = (cursor: RlpCursor): ValidatorProof | null =>
  cursor.takeEmptyList() ? null : cursor.list(() => ({ address: cursor.hex(20), signature: fixedBytes(cursor, 65) }))

export const helloCodec: WireCodec<Hello> = listCodec(
  hello =>
    encodeRlp([
      uintItem(hello.version),
      uintItem(hello.chainId),
      hexToBytes(hello.genesisHash),
      hexToBytes(hello.forkHash),
      uintItem(hello.forkNext),
      nodeIdItem(hello.nodeId),
      hexToBytes(hello.instance),
      asciiBytes(hello.client),
      headItem(hello.head),
      uintItem(hello.earliest),
      hello.record,
      proofItem(hello.proof),
    ]),
  cursor => ({
    version: cursor.safeUint(),
    chainId: cursor.safeUint(),
    genesisHash: cursor.hex(32),
    forkHash: cursor.hex(4),
    forkNext: cursor.safeUint(),
    nodeId: readNodeId(cursor),
    instance: cursor.hex(8),
    client: asciiText(cursor, NETWORK_LIMITS.clientBytes),
    head: readHead(cursor),
    earliest: cursor.safeUint(),
    record: cursor.boundedBytes(NETWORK_LIMITS.recordBytes),
    proof: readProof(cursor),
  }),
)

/** Returns the version of a hello, whatever follows it in another version. Throws MESSAGE_MALFORMED. */
export const helloVersion = (bytes: Uint8Array): number =>
  decodeOrMalformed('MESSAGE_MALFORMED', () => {
    const cursor = new RlpCursor(bytes)
    cursor.openList()
    return cursor.safeUint()
  })

export interface Ping {
  readonly head: PeerHead
  readonly earliest: number
}

/** Ping and pong: head and earliest block of each side. */
const pingCodec: WireCodec<Ping> = listCodec(
  ({ head, earliest }) => encodeRlp([headItem(head), uintItem(earliest)]),
  cursor => ({ head: readHead(cursor), earliest: cursor.safeUint() }),
)

const disconnectCodec: WireCodec<DisconnectReason> = listCodec(
  reason => encodeRlp([uintItem(DISCONNECT_REASONS[reason].code)]),
  cursor => {
    const code = cursor.safeUint()
    const reason = disconnectReasonFromCode(code)
    if (reason === undefined) throw malformedMessage(`no reason has the code ${code}`)
    return reason
  },
)

/** Messages without content. */
export const emptyCodec: WireCodec<null> = listCodec(
  () => encodeRlp([]),
  () => null,
)

/** Statement of a validator that a node relays for it, within a delegation's life of the block `number`. */
export interface Delegation extends ValidatorProof {
  readonly number: number
}

const delegationCodec: WireCodec<Delegation> = listCodec(
  ({ number, address, signature }) => encodeRlp([uintItem(number), hexToBytes(address), signature]),
  cursor => ({ number: cursor.safeUint(), address: cursor.hex(20), signature: fixedBytes(cursor, 65) }),
)

/** Validators that a node reaches. */
const linksCodec: WireCodec<readonly Hex[]> = listCodec(
  validators => encodeRlp([validators.map(hexToBytes)]),
  cursor => cursor.items(() => bytesToHex(fixedBytes(cursor, 20)), COUNCIL_BOUNDS.members),
)

/** Messages of the connection itself: handshake, liveness, peer records. */
export const CONTROL_MESSAGES = {
  hello: declareMessage('control', 0, {
    maxBytes: 2 * KIB,
    quota: quota(1, 1),
    codec: helloCodec,
    from: 'handshake',
    summary: 'Identity of the node, its chain, and the validator it represents',
  }),
  ready: declareMessage('control', 1, {
    maxBytes: 1,
    quota: quota(1, 1),
    codec: emptyCodec,
    from: 'handshake',
    summary: 'The hello was accepted',
  }),
  disconnect: declareMessage('control', 2, {
    maxBytes: 16,
    quota: quota(1, 1),
    codec: disconnectCodec,
    from: 'handshake',
    summary: 'Why this side closes the connection now',
  }),
  ping: declareMessage('control', 3, {
    maxBytes: 128,
    quota: quota(1, 5),
    codec: pingCodec,
    summary: 'Head and earliest block; to be answered',
  }),
  pong: declareResponse('control', 4, {
    maxBytes: 128,
    codec: pingCodec,
    summary: 'The same of the other side',
  }),
  getRecords: declareMessage('control', 5, {
    maxBytes: 1,
    quota: quota(0.1, 3),
    codec: emptyCodec,
    summary: 'Requests peer records',
  }),
  records: declareResponse('control', 6, {
    maxBytes: NETWORK_LIMITS.recordsPerAnswer * NETWORK_LIMITS.recordBytes + LIST_OVERHEAD,
    codec: stringsCodec(NETWORK_LIMITS.recordsPerAnswer, NETWORK_LIMITS.recordBytes),
    summary: 'Signed records of nodes, by chance',
  }),
  links: declareMessage('control', 7, {
    maxBytes: 8 * KIB,
    quota: quota(20, 200),
    codec: linksCodec,
    from: 'committee',
    summary: 'Validators the sender reaches, directly and (told to members only) through relays, at each change',
  }),
  delegation: declareMessage('control', 8, {
    maxBytes: 128,
    quota: quota(0.5, 2 * NETWORK_LIMITS.relayedValidators),
    codec: delegationCodec,
    summary: "A validator's statement that the sender, or the receiver, relays for it",
  }),
} as const
