import { assert } from '@tandem/base/assert.ts'
import { EMPTY_BYTES, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { NETWORK_LIMITS } from '../../../config/limits/network.ts'
import { SNAPSHOT_LIMITS } from '../../../config/limits/sync.ts'
import { keccak256Hex } from '../../../crypto/hash.ts'
import { chunksOf, type SnapshotManifest } from '../../../network/wire/snapshot.ts'
import { decodeCertificate } from '../../../primitives/consensus/certificate.ts'
import { decodeExtraData } from '../../../primitives/consensus/extra-data.ts'
import { decodeHeader } from '../../../primitives/header.ts'
import { openStateReader } from '../../../state/history/stored-state.ts'
import { makeSnapshot } from '../../../state/snapshot/make-snapshot.ts'
import { BUCKETS } from '../../../storage/buckets.ts'
import { numberKey } from '../../../storage/keys.ts'
import type { Store } from '../../../storage/store.ts'
import { recordChunks } from '../sync/council-records.ts'
import { pruneSnapshotFolders, SNAPSHOT_FORMAT, SnapshotFiles } from './snapshot-folder.ts'

/** Summary of a snapshot, for the log. */
interface SnapshotReport {
  readonly number: number
  readonly accounts: number
  readonly slots: number
  readonly chunks: number
  readonly bytes: number
}

/**
 * Writes the snapshot of the state after block `number`, which must still be readable, and deletes older ones except those in use. Opens the
 * store itself and may take minutes, so it needs its own thread. Nothing is left of one that fails. Throws MISSING_STATE, SNAPSHOT_NO_SPACE.
 */
export const writeSnapshot = async (
  store: Store,
  root: string,
  number: number,
  inUse: readonly number[] = [],
  free?: Parameters<typeof SnapshotFiles.create>[2],
): Promise<SnapshotReport> => {
  const state = await openStateReader(store, number)
  try {
    const files = await SnapshotFiles.create(root, number, free)
    try {
      const report = await writeFiles(store, state, number, files)
      await pruneSnapshotFolders(root, SNAPSHOT_LIMITS.kept, inUse)
      return report
    } catch (error) {
      await files.discard()
      throw error
    }
  } finally {
    state.release()
  }
}

const writeFiles = async (
  store: Store,
  state: Awaited<ReturnType<typeof openStateReader>>,
  number: number,
  files: SnapshotFiles,
): Promise<SnapshotReport> => {
  const recordHashes: Hex[] = []
  const lengths: number[] = []
  for await (const chunk of recordChunks(store, number)) {
    await files.sink('records').append(chunk)
    recordHashes.push(keccak256Hex(chunk))
    lengths.push(chunk.byteLength)
  }
  const made = await makeSnapshot(state, { accounts: files.sink('accounts'), storages: files.sink('storages') })
  const { header, certificate } = await sealedHeader(store, number)
  assert(made.root === decodeHeader(header).stateRoot, 'the entries of the state make the root of its block')
  const manifest: SnapshotManifest = {
    ...{ format: SNAPSHOT_FORMAT, header, certificate, records: recordHashes },
    proofState: await proofStateRow(store, header),
    ...made,
  }
  for (const { start, end } of [...made.accounts, ...made.storages.flatMap(({ parts }) => parts)])
    lengths.push(end - start)
  const chunks = chunksOf(manifest)
  assert(chunks <= NETWORK_LIMITS.snapshotChunks, 'a state of so many chunks is for another format')
  await files.finish(manifest, lengths)
  return { number, ...made.entries, chunks, bytes: lengths.reduce((sum, length) => sum + length, 0) }
}

/** Empty while there is no proof header. */
const proofStateRow = async (store: Store, header: Uint8Array): Promise<Uint8Array> => {
  const { proofTip } = decodeExtraData(decodeHeader(header).extraData)
  return (await store.get(BUCKETS.proofState, hexToBytes(proofTip))) ?? EMPTY_BYTES
}

const sealedHeader = async (store: Store, number: number) => {
  const key = numberKey(number)
  const [header, certificate] = await Promise.all([store.get(BUCKETS.header, key), store.get(BUCKETS.certificate, key)])
  assert(header !== undefined && certificate !== undefined, 'a committed block has its header and certificate')
  return { header, certificate: decodeCertificate(certificate) }
}
