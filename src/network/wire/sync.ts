import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { CONSENSUS_BOUNDS } from '../../config/protocol-bounds.ts'
import { type Certificate, certificateItem, readCertificate } from '../../primitives/consensus/certificate.ts'
import { PROOF_HEADER_BYTES } from '../../primitives/proof-header.ts'
import { encodeRlp, encodeRlpList, uintItem } from '../../primitives/rlp/rlp.ts'
import { readSealedBlock, type SealedBlock, sealedCodec } from './consensus.ts'
import { fixedBytes, listCodec, malformedMessage, type WireCodec } from './payload-codec.ts'

const { blocksPerRequest, receiptsPerRequest } = NETWORK_LIMITS

/** Final block: its certificate proves it without its body. */
export interface BlockAnnouncement {
  readonly number: number
  readonly hash: Hex
  readonly certificate: Certificate
}

export const announcementCodec: WireCodec<BlockAnnouncement> = listCodec(
  ({ number, hash, certificate }) => encodeRlp([uintItem(number), hexToBytes(hash), certificateItem(certificate)]),
  cursor => ({ number: cursor.safeUint(), hash: cursor.hex(32), certificate: readCertificate(cursor) }),
)

export interface BlockRange {
  /** Number of the first block. */
  readonly from: number
  readonly count: number
}

export const rangeCodec: WireCodec<BlockRange> = listCodec(
  ({ from, count }) => encodeRlp([uintItem(from), uintItem(count)]),
  cursor => {
    const range = { from: cursor.safeUint(), count: cursor.safeUint() }
    if (range.count < 1 || range.count > blocksPerRequest)
      throw malformedMessage(`1 to ${blocksPerRequest} blocks at once`)
    return range
  },
)

/** Ascending from the first block requested, as many as fit; none: the peer does not have it. */
export const blocksCodec: WireCodec<readonly SealedBlock[]> = listCodec(
  blocks => encodeRlpList([encodeRlpList(blocks.map(sealedCodec.encode))]),
  cursor => cursor.items(() => cursor.list(readSealedBlock), blocksPerRequest),
)

export const hashesCodec = (limit: number): WireCodec<readonly Hex[]> =>
  listCodec(
    hashes => encodeRlp([hashes.map(hexToBytes)]),
    cursor => cursor.items(() => bytesToHex(fixedBytes(cursor, 32)), limit),
  )

export const blockHashesCodec = hashesCodec(receiptsPerRequest)

/** Encoded receipts of each requested block, in order, as many as fit; empty: the peer does not have them. */
export const receiptsCodec: WireCodec<readonly Uint8Array[]> = listCodec(
  receipts => encodeRlp([receipts]),
  cursor => cursor.items(() => cursor.bytes(), receiptsPerRequest),
)

/** Encoded proof header: one string. */
export const proofHeaderCodec: WireCodec<Uint8Array> = listCodec(
  header => encodeRlp([header]),
  cursor => cursor.boundedBytes(PROOF_HEADER_BYTES),
)

/** Encoded evidence (consensus): one string. */
export const evidenceCodec: WireCodec<Uint8Array> = listCodec(
  evidence => encodeRlp([evidence]),
  cursor => cursor.boundedBytes(CONSENSUS_BOUNDS.evidenceBytes),
)
