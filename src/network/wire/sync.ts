import { LIMITS } from '../../config/limits.ts'
import { type Certificate, certificateItem, readCertificate } from '../../primitives/certificate.ts'
import { encodeRlp, encodeRlpList, uintItem } from '../../primitives/rlp.ts'
import { bytesToHex, type Hex, hexToBytes } from '../../util/bytes.ts'
import { fixedBytes, inList, listCodec, rawList, readItems, refuse, type WireCodec } from './codec.ts'
import { type SealedBlock, sealedCodec } from './consensus.ts'

const { blocksPerRequest, receiptsPerRequest, snapshotChunks } = LIMITS.network

/** A block that is final: its certificate proves it without its body. */
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
  /** The first one. */
  readonly from: number
  readonly count: number
}

export const rangeCodec: WireCodec<BlockRange> = listCodec(
  ({ from, count }) => encodeRlp([uintItem(from), uintItem(count)]),
  cursor => {
    const range = { from: cursor.safeUint(), count: cursor.safeUint() }
    if (range.count < 1 || range.count > blocksPerRequest) throw refuse(`1 to ${blocksPerRequest} blocks at once`)
    return range
  },
)

/** Ascending from the first asked for, as many as fit; none: the peer does not have it. */
export const blocksCodec: WireCodec<readonly SealedBlock[]> = listCodec(
  blocks => encodeRlpList([encodeRlpList(blocks.map(sealedCodec.encode))]),
  cursor =>
    readItems(cursor, blocksPerRequest, item =>
      inList(item, inside => ({ block: rawList(inside), certificate: readCertificate(inside) })),
    ),
)

export const hashesCodec = (limit: number): WireCodec<readonly Hex[]> =>
  listCodec(
    hashes => encodeRlp([hashes.map(hexToBytes)]),
    cursor => readItems(cursor, limit, item => bytesToHex(fixedBytes(item, 32))),
  )

export const blockHashesCodec = hashesCodec(receiptsPerRequest)

/** Encoded receipts of each block asked for, in that order, as many as fit; empty: the peer does not have them. */
export const receiptsCodec: WireCodec<readonly Uint8Array[]> = listCodec(
  receipts => encodeRlp([receipts]),
  cursor => readItems(cursor, receiptsPerRequest, item => item.bytes()),
)

/** What a snapshot consists of (reference/consensus.md 4). */
export interface SnapshotManifest {
  readonly format: number
  readonly number: number
  readonly blockHash: Hex
  readonly certificate: Certificate
  readonly stateRoot: Hex
  /** keccak256 of each chunk. */
  readonly chunks: readonly Hex[]
}

/** null: the peer has no snapshot. */
export const manifestCodec: WireCodec<SnapshotManifest | null> = listCodec(
  manifest =>
    manifest === null
      ? encodeRlp([[]])
      : encodeRlp([
          [
            uintItem(manifest.format),
            uintItem(manifest.number),
            hexToBytes(manifest.blockHash),
            certificateItem(manifest.certificate),
            hexToBytes(manifest.stateRoot),
            manifest.chunks.map(hexToBytes),
          ],
        ]),
  cursor =>
    cursor.takeEmptyList()
      ? null
      : inList(cursor, inside => ({
          format: inside.safeUint(),
          number: inside.safeUint(),
          blockHash: inside.hex(32),
          certificate: readCertificate(inside),
          stateRoot: inside.hex(32),
          chunks: readItems(inside, snapshotChunks, item => item.hex(32)),
        })),
)

export interface ChunkRequest {
  readonly blockHash: Hex
  readonly index: number
}

export const chunkRequestCodec: WireCodec<ChunkRequest> = listCodec(
  ({ blockHash, index }) => encodeRlp([hexToBytes(blockHash), uintItem(index)]),
  cursor => {
    const request = { blockHash: cursor.hex(32), index: cursor.safeUint() }
    if (request.index >= snapshotChunks) throw refuse(`a snapshot has at most ${snapshotChunks} chunks`)
    return request
  },
)

/** One string; empty: the peer does not have it. */
export const chunkCodec: WireCodec<Uint8Array> = listCodec(
  chunk => encodeRlp([chunk]),
  cursor => cursor.bytes(),
)

/** Encoded evidence (consensus): one string. */
export const evidenceCodec: WireCodec<Uint8Array> = listCodec(
  evidence => encodeRlp([evidence]),
  cursor => cursor.boundedBytes(LIMITS.consensus.evidenceBytes),
)
