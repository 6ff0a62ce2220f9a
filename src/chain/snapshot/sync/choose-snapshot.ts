import { compareBytes, type Hex } from '@tandem/base/bytes.ts'
import { isCoded, undefinedIfCoded } from '@tandem/base/errors.ts'
import { SNAPSHOT_LIMITS } from '../../../config/limits/sync.ts'
import { manifestCodec, type SnapshotManifest, snapshotId } from '../../../network/wire/snapshot.ts'
import { decodeHeader, type Header, headerHash } from '../../../primitives/header.ts'
import { endsCycle } from '../../../rules/council/cycle.ts'
import { rootOfParts } from '../../../state/snapshot/sub-trie.ts'
import { SNAPSHOT_FORMAT } from '../store/snapshot-folder.ts'
import type { PeerSource } from './fetch-headers.ts'

/** Manifest whose parts match the state root of its header. snapshot-selector.ts checks that the header is part of the chain. */
export interface ValidManifest {
  readonly manifest: SnapshotManifest
  readonly header: Header
  readonly hash: Hex
  /** Snapshot id, by which chunks are requested. */
  readonly id: Hex
  /** Peers that offered this content; none for one loaded from disk. */
  readonly offeredBy: readonly string[]
}

interface ChooseOptions {
  readonly network: PeerSource
  readonly cycleBlocks: number
  /** Ids of snapshots that proved unusable. */
  readonly refused: ReadonlySet<Hex>
  /** Smallest acceptable block number. */
  readonly from: number
}

/** Returns the snapshots that peers offer: newest first; for one block the most offered one first. */
export const offeredSnapshots = async (options: ChooseOptions): Promise<readonly ValidManifest[]> => {
  const found = new Map<Hex, ValidManifest>()
  const asked = new Set<string>()
  for (let count = 0; count < SNAPSHOT_LIMITS.manifests; count++) {
    const offer = await nextOffer(options, asked)
    if (offer === undefined) break
    const known = found.get(offer.id)
    found.set(offer.id, known === undefined ? offer : { ...known, offeredBy: [...known.offeredBy, ...offer.offeredBy] })
  }
  const { from, refused } = options
  return [...found.values()]
    .filter(({ header, id }) => header.number >= from && !refused.has(id))
    .sort((a, b) => b.header.number - a.header.number || b.offeredBy.length - a.offeredBy.length)
}

/** Returns the manifest of a peer not tried before; undefined when no peer has one. */
const nextOffer = async (
  { network, cycleBlocks }: ChooseOptions,
  asked: Set<string>,
): Promise<ValidManifest | undefined> => {
  try {
    for (;;) {
      const { answer, from } = await network.request('getManifest', null, {
        among: ({ id }) => !asked.has(id),
        watch: peer => void asked.add(peer),
        validate: manifest => (manifest?.format === SNAPSHOT_FORMAT ? 'good' : 'empty'),
      })
      const sound = soundManifest(answer as SnapshotManifest, [from])
      if (sound !== undefined && endsCycle(sound.header.number, cycleBlocks)) return sound
      network.reportForgery(from, 'a snapshot whose parts do not match its state root')
    }
  } catch (error) {
    if (isCoded(error)) return undefined
    throw error
  }
}

/** Returns a manifest accepted earlier; undefined for one of another format. */
export const storedManifest = (bytes: Uint8Array): ValidManifest | undefined => {
  const manifest = undefinedIfCoded(() => manifestCodec.decode(bytes))
  return manifest?.format === SNAPSHOT_FORMAT ? soundManifest(manifest, []) : undefined
}

const soundManifest = (manifest: SnapshotManifest, offeredBy: readonly string[]): ValidManifest | undefined =>
  undefinedIfCoded(() => {
    const header = decodeHeader(manifest.header)
    const isSound =
      rootOfParts(manifest.accounts) === header.stateRoot &&
      manifest.storages.every(({ owner }, at) => at === 0 || isAfter(owner, manifest.storages[at - 1]?.owner))
    return isSound ? { manifest, header, hash: headerHash(header), id: snapshotId(manifest), offeredBy } : undefined
  })

const isAfter = (owner: Uint8Array, before: Uint8Array | undefined): boolean =>
  before !== undefined && compareBytes(before, owner) < 0
