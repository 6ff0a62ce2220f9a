import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { PROOF_BOUNDS } from '../../config/protocol-bounds.ts'
import { keccak256Hex } from '../../crypto/hash.ts'
import { type Certificate, certificateItem, readCertificate } from '../../primitives/consensus/certificate.ts'
import { encodeRlp, encodeRlpList, uintItem } from '../../primitives/rlp/rlp.ts'
import type { RlpCursor } from '../../primitives/rlp/rlp-cursor.ts'
import type { SnapshotPart } from '../../state/snapshot/sub-trie.ts'
import { fixedBytes, listCodec, malformedMessage, rawList, type WireCodec } from './payload-codec.ts'

const { snapshotChunks } = NETWORK_LIMITS
/** Nibbles of a key. */
const PREFIX_NIBBLES = 64
/** The RLP of a hash; a node that stands for itself is shorter. */
const REFERENCE_BYTES = 33

/** Content of a snapshot (docs/design/snapshot-sync.md#chunks); chunks in one sequence: records, accounts, storages. */
export interface SnapshotManifest {
  readonly format: number
  /** RLP of the block's header: its hash is the block hash, and its state root covers the parts. */
  readonly header: Uint8Array
  readonly certificate: Certificate
  /** keccak256 of each chunk of council records. */
  readonly records: readonly Hex[]
  /** State of the proof chain after the block (rules/proof/proof-state.ts); empty while there is no proof header. */
  readonly proofState: Uint8Array
  readonly accounts: readonly SnapshotPart[]
  /** Storage tries that are not stored with their accounts, by hashed address. */
  readonly storages: readonly { readonly owner: Uint8Array; readonly parts: readonly SnapshotPart[] }[]
}

export const chunksOf = ({
  records,
  accounts,
  storages,
}: Pick<SnapshotManifest, 'records' | 'accounts' | 'storages'>) =>
  storages.reduce((sum, { parts }) => sum + parts.length, records.length + accounts.length)

/** Items of a manifest before and after its certificate. */
const itemsOf = ({ format, header, records, proofState, accounts, storages }: SnapshotManifest) => ({
  before: [encodeRlp(uintItem(format)), header],
  after: [encodeRlp(records.map(hexToBytes)), encodeRlp(proofState), encodeParts(accounts), encodeStorages(storages)],
})

/** Id of a snapshot: keccak256 of its manifest without certificate, which may differ by node. Chunks are requested by it. */
export const snapshotId = (manifest: SnapshotManifest): Hex => {
  const { before, after } = itemsOf(manifest)
  return keccak256Hex(encodeRlpList([...before, ...after]))
}

/** null: the peer has no snapshot. */
export const manifestCodec: WireCodec<SnapshotManifest | null> = listCodec(
  manifest => encodeRlpList([manifest === null ? EMPTY_LIST : encodeManifest(manifest)]),
  cursor => (cursor.takeEmptyList() ? null : cursor.list(readManifest)),
)

const EMPTY_LIST = Uint8Array.of(0xc0)

export const encodeManifest = (manifest: SnapshotManifest): Uint8Array => {
  const { before, after } = itemsOf(manifest)
  return encodeRlpList([...before, encodeRlp(certificateItem(manifest.certificate)), ...after])
}

const encodeStorages = (storages: SnapshotManifest['storages']): Uint8Array =>
  encodeRlpList(storages.map(({ owner, parts }) => encodeRlpList([encodeRlp(owner), encodeParts(parts)])))

const encodeParts = (parts: readonly SnapshotPart[]): Uint8Array =>
  encodeRlpList(parts.map(({ prefix, reference }) => encodeRlpList([encodeRlp(prefix), reference])))

const readManifest = (cursor: RlpCursor): SnapshotManifest => {
  const manifest = {
    format: cursor.safeUint(),
    header: rawList(cursor),
    certificate: readCertificate(cursor),
    records: cursor.items(() => cursor.hex(32), snapshotChunks),
    proofState: cursor.boundedBytes(PROOF_BOUNDS.stateBytes),
    accounts: readParts(cursor),
    storages: cursor.items(
      () => cursor.list(() => ({ owner: fixedBytes(cursor, 32), parts: readParts(cursor) })),
      snapshotChunks,
    ),
  }
  if (chunksOf(manifest) > snapshotChunks) throw malformedMessage(`a snapshot has at most ${snapshotChunks} chunks`)
  return manifest
}

const readParts = (cursor: RlpCursor): readonly SnapshotPart[] =>
  cursor.items(() => cursor.list(readPart), snapshotChunks)

const readPart = (cursor: RlpCursor): SnapshotPart => {
  const prefix = cursor.boundedBytes(PREFIX_NIBBLES)
  const reference = cursor.raw()
  if (reference.byteLength > REFERENCE_BYTES) throw malformedMessage('a reference is a hash or shorter')
  return { prefix, reference }
}

interface ChunkRequest {
  /** See `snapshotId`. */
  readonly snapshot: Hex
  readonly index: number
}

export const chunkRequestCodec: WireCodec<ChunkRequest> = listCodec(
  ({ snapshot, index }) => encodeRlp([hexToBytes(snapshot), uintItem(index)]),
  cursor => {
    const request = { snapshot: cursor.hex(32), index: cursor.safeUint() }
    if (request.index >= snapshotChunks) throw malformedMessage(`a snapshot has at most ${snapshotChunks} chunks`)
    return request
  },
)
