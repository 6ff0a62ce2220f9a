import { manifestCodec, type SnapshotManifest } from '../../network/wire/snapshot.ts'
import { decodeHeader, type Header, headerHash } from '../../primitives/header.ts'
import { endsCycle } from '../../rules/cycle.ts'
import { rootOfParts } from '../../state/snapshot/part.ts'
import { compareBytes, type Hex } from '../../util/bytes.ts'
import { isCoded, unlessCoded } from '../../util/errors.ts'
import type { PeerSource } from './fetch.ts'
import { SNAPSHOT_FORMAT } from './make.ts'

/** A manifest whose parts make the state root of its header. Whether that header is of the chain is another question. */
export interface SoundManifest {
  readonly manifest: SnapshotManifest
  readonly header: Header
  readonly hash: Hex
  /** Who sent it; undefined: it was on the disk. */
  readonly from: string | undefined
}

/** The newest snapshot of some peer. undefined: nobody has one, or none that can be used. */
export const chooseSnapshot = async (network: PeerSource, cycleBlocks: number): Promise<SoundManifest | undefined> => {
  try {
    const { answer, from } = await network.request('getManifest', null, {
      judge: manifest => (manifest === null ? 'empty' : 'good'),
    })
    if (answer === null || answer.format !== SNAPSHOT_FORMAT) return undefined
    const sound = soundManifest(answer, from)
    if (sound !== undefined && endsCycle(sound.header.number, cycleBlocks)) return sound
    network.reportForgery(from, 'a snapshot whose parts do not make its state root')
    return undefined
  } catch (error) {
    if (isCoded(error)) return undefined
    throw error
  }
}

/** A manifest that was taken before. */
export const storedManifest = (bytes: Uint8Array): SoundManifest | undefined => {
  const manifest = manifestCodec.decode(bytes)
  return manifest === null ? undefined : soundManifest(manifest, undefined)
}

const soundManifest = (manifest: SnapshotManifest, from: string | undefined): SoundManifest | undefined =>
  unlessCoded(() => {
    const header = decodeHeader(manifest.header)
    const isSound =
      rootOfParts(manifest.accounts) === header.stateRoot &&
      manifest.storages.every(({ owner }, at) => at === 0 || isAfter(owner, manifest.storages[at - 1]?.owner))
    return isSound ? { manifest, header, hash: headerHash(header), from } : undefined
  })

const isAfter = (owner: Uint8Array, before: Uint8Array | undefined): boolean =>
  before !== undefined && compareBytes(before, owner) < 0
