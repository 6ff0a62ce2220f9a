import { bytesEqual, bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import type { SnapshotManifest } from '../../../network/wire/snapshot.ts'
import { rootOfParts } from '../../../state/snapshot/sub-trie.ts'

type Part = SnapshotManifest['accounts'][number]

type ChunkPlace =
  | { readonly kind: 'records'; readonly hash: Hex }
  | { readonly kind: 'accounts'; readonly snapshotPart: Part }
  | { readonly kind: 'storage'; readonly owner: Uint8Array; readonly snapshotPart: Part }

/** Returns the place of chunk `index` of a snapshot (network/wire/snapshot.ts). Throws RangeError when there is none. */
export const chunkPlaceOf = ({ records, accounts, storages }: SnapshotManifest, index: number): ChunkPlace => {
  let at = index
  const hash = records[at]
  if (hash !== undefined) return { kind: 'records', hash }
  at -= records.length
  const account = accounts[at]
  if (account !== undefined) return { kind: 'accounts', snapshotPart: account }
  at -= accounts.length
  for (const { owner, parts } of storages) {
    const snapshotPart = parts[at]
    if (snapshotPart !== undefined) return { kind: 'storage', owner, snapshotPart }
    at -= parts.length
  }
  throw new RangeError(`no chunk ${index}`)
}

/** Range of chunks, `to` exclusive. */
export interface ChunkRange {
  readonly from: number
  readonly to: number
}

/** Returns the chunk with the row of an account; undefined when no part covers it. */
export const accountChunk = ({ records, accounts }: SnapshotManifest, owner: Uint8Array): number | undefined => {
  const at = accounts.findIndex(({ prefix }) => prefix.every((nibble, place) => nibble === nibbleAt(owner, place)))
  return at < 0 ? undefined : records.length + at
}

/** Returns the chunks with the storage of an account; empty when its storage is stored with the account. */
export const storageChunks = ({ records, accounts, storages }: SnapshotManifest, owner: Uint8Array): ChunkRange => {
  let from = records.length + accounts.length
  for (const storage of storages) {
    const to = from + storage.parts.length
    if (bytesEqual(storage.owner, owner)) return { from, to }
    from = to
  }
  return { from, to: from }
}

/** Returns the roots of the storages in a manifest by hashed owner address; undefined for parts that form no trie. */
export const storageRoots = ({ storages }: SnapshotManifest): ReadonlyMap<Hex, Hex | undefined> =>
  new Map(storages.map(({ owner, parts }) => [bytesToHex(owner), rootOfParts(parts)]))

const nibbleAt = (key: Uint8Array, place: number): number => ((key[place >> 1] as number) >> (place & 1 ? 0 : 4)) & 0x0f
