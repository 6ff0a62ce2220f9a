import { LIMITS } from '../../../config/limits.ts'
import { manifestCodec, type SnapshotManifest, snapshotId } from '../../../network/wire/snapshot.ts'
import { decodeHeader, type Header, headerHash } from '../../../primitives/header.ts'
import { endsCycle } from '../../../rules/cycle.ts'
import { rootOfParts } from '../../../state/snapshot/sub-trie.ts'
import { compareBytes, type Hex } from '../../../util/bytes.ts'
import { isCoded, undefinedIfCoded } from '../../../util/errors.ts'
import { SNAPSHOT_FORMAT } from '../format.ts'
import type { PeerSource } from './fetch-headers.ts'

/** A manifest whose parts make the state root of its header. Whether that header is of the chain is another question (prove.ts). */
export interface ValidManifest {
  readonly manifest: SnapshotManifest
  readonly header: Header
  readonly hash: Hex
  /** Name of its content: chunks are asked for by it. */
  readonly id: Hex
  /** Peers that offered this content; none for one that was on the disk. */
  readonly offeredBy: readonly string[]
}

export interface ChooseOptions {
  readonly network: PeerSource
  readonly cycleBlocks: number
  /** Contents that turned out to be of no use. */
  readonly refused: ReadonlySet<Hex>
  /** Blocks from this number on are wanted. */
  readonly from: number
}

/** Snapshots that peers offer: the newest first, of one block the one that most peers offer. */
export const offeredSnapshots = async (options: ChooseOptions): Promise<readonly ValidManifest[]> => {
  const found = new Map<Hex, ValidManifest>()
  const asked = new Set<string>()
  for (let count = 0; count < LIMITS.snapshot.manifests; count++) {
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

/** The manifest of a peer that was not asked before; undefined: nobody has one. */
const nextOffer = async (
  { network, cycleBlocks }: ChooseOptions,
  asked: Set<string>,
): Promise<ValidManifest | undefined> => {
  try {
    for (;;) {
      const { answer, from } = await network.request('getManifest', null, {
        among: ({ id }) => !asked.has(id),
        watch: peer => void asked.add(peer),
        judge: manifest => (manifest?.format === SNAPSHOT_FORMAT ? 'good' : 'empty'),
      })
      const sound = soundManifest(answer as SnapshotManifest, [from])
      if (sound !== undefined && endsCycle(sound.header.number, cycleBlocks)) return sound
      network.reportForgery(from, 'a snapshot whose parts do not make its state root')
    }
  } catch (error) {
    if (isCoded(error)) return undefined
    throw error
  }
}

/** A manifest that was taken before; undefined for one of another format. */
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
