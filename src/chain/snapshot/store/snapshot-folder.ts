import { open, readdir, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { ifMissing } from '@tandem/base/fs/if-missing.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import { SNAPSHOT_LIMITS } from '../../../config/limits/sync.ts'
import { encodeManifest, manifestCodec, type SnapshotManifest, snapshotId } from '../../../network/wire/snapshot.ts'
import { encodeRlp, encodeRlpList, uintItem } from '../../../primitives/rlp/rlp.ts'
import { readWholeList } from '../../../primitives/rlp/rlp-cursor.ts'
import type { ByteSink } from '../../../state/snapshot/make-snapshot.ts'

/*
 * Snapshot on disk: a folder named by its block's number with three files of concatenated chunks, and an index, which is RLP of
 * [manifest, lengths of the chunks]. An unfinished folder has another name, so that the remains of a crash are never taken as complete.
 */
/** Format of snapshots (docs/decisions.md#0022-snapshot-sync): other formats are neither served nor imported. */
export const SNAPSHOT_FORMAT = 3

const FILES = ['records', 'accounts', 'storages'] as const
type FileName = (typeof FILES)[number]
const INDEX = 'index'
const UNFINISHED = 'new-'

/** A snapshot is not made, since it would leave less than SNAPSHOT_LIMITS.freeBytes of the disk. */
type SpaceError = { readonly code: 'SNAPSHOT_NO_SPACE'; readonly freeBytes: number; readonly neededBytes: number }

/** Returns the bytes that this user may still write to the disk of a folder. */
type FreeSpace = (folder: string) => Promise<number>

const freeSpace: FreeSpace = async folder => {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** Files of a snapshot in the making. After a failure they are closed and deleted at once. */
export class SnapshotFiles {
  readonly #root: string
  readonly #number: number
  readonly #free: FreeSpace
  readonly #sinks: FileSink[] = []

  private constructor(root: string, number: number, free: FreeSpace) {
    this.#root = root
    this.#number = number
    this.#free = free
  }

  /** The remains of earlier attempts are deleted. Throws SNAPSHOT_NO_SPACE when another one like the newest would not fit. */
  static async create(root: string, number: number, free: FreeSpace = freeSpace): Promise<SnapshotFiles> {
    await dropUnfinished(root)
    makeFolder(join(root, `${UNFINISHED}${number}`))
    const files = new SnapshotFiles(root, number, free)
    try {
      await files.#requireSpace(await newestBytes(root))
      for (const name of FILES) files.#sinks.push(await FileSink.create(files.#path(name), files.#requireSpace))
      return files
    } catch (error) {
      await files.discard()
      throw error
    }
  }

  sink(name: FileName): ByteSink {
    return this.#sinks[FILES.indexOf(name)] as FileSink
  }

  /** Completes the snapshot: writes the index and renames the folder. */
  async finish(manifest: SnapshotManifest, lengths: readonly number[]): Promise<void> {
    for (const sink of this.#sinks) await sink.finish()
    const index = encodeRlpList([encodeRlpList([encodeManifest(manifest)]), encodeRlp(lengths.map(uintItem))])
    await writeFile(this.#path(INDEX), index, { mode: 0o600, flush: true })
    const place = join(this.#root, String(this.#number))
    await rm(place, { recursive: true, force: true })
    await rename(this.#path(''), place)
  }

  /** Closes and deletes them. */
  async discard(): Promise<void> {
    await Promise.allSettled(this.#sinks.map(sink => sink.close()))
    await rm(this.#path(''), { recursive: true, force: true })
  }

  #path(name: string): string {
    return join(this.#root, `${UNFINISHED}${this.#number}`, name)
  }

  readonly #requireSpace = async (bytes: number): Promise<void> => {
    const neededBytes = bytes + SNAPSHOT_LIMITS.freeBytes
    const freeBytes = await this.#free(this.#root)
    if (freeBytes < neededBytes) throw new CodedError<SpaceError>({ code: 'SNAPSHOT_NO_SPACE', freeBytes, neededBytes })
  }
}

/** Appends to one file, collected into large writes. */
class FileSink implements ByteSink {
  readonly #handle: Awaited<ReturnType<typeof open>>
  readonly #requireSpace: (bytes: number) => Promise<void>
  #waiting: Uint8Array[] = []
  #bytes = 0
  #isClosed = false

  private constructor(handle: Awaited<ReturnType<typeof open>>, requireSpace: (bytes: number) => Promise<void>) {
    this.#handle = handle
    this.#requireSpace = requireSpace
  }

  static async create(path: string, requireSpace: (bytes: number) => Promise<void>): Promise<FileSink> {
    return new FileSink(await open(path, 'wx', 0o600), requireSpace)
  }

  async append(bytes: Uint8Array): Promise<void> {
    this.#waiting.push(bytes)
    this.#bytes += bytes.byteLength
    if (this.#bytes >= SNAPSHOT_LIMITS.writeBytes) await this.#flush()
  }

  /** Resolves when all is on disk. */
  async finish(): Promise<void> {
    await this.#flush()
    await this.#handle.sync()
    await this.close()
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#handle.close()
  }

  async #flush(): Promise<void> {
    await this.#requireSpace(this.#bytes)
    const bytes = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#bytes = 0
    await this.#handle.appendFile(bytes)
  }
}

/** Returns the numbers of the complete snapshots, newest first. */
export const listSnapshotFolders = async (root: string): Promise<readonly number[]> => {
  const names = await namesIn(root)
  return names
    .filter(name => /^\d{1,15}$/.test(name))
    .map(Number)
    .sort((a, b) => b - a)
}

/** Deletes all but the newest snapshots and those in use. */
export const pruneSnapshotFolders = async (root: string, kept: number, inUse: readonly number[]): Promise<void> => {
  const old = (await listSnapshotFolders(root)).slice(kept).filter(number => !inUse.includes(number))
  for (const number of old) await rm(join(root, String(number)), { recursive: true, force: true })
}

/** Deletes the remains of attempts that ended with their process. */
export const dropUnfinished = async (root: string): Promise<void> => {
  for (const name of await namesIn(root))
    if (name.startsWith(UNFINISHED)) await rm(join(root, name), { recursive: true, force: true })
}

/** Returns the names in the folder of the snapshots; none before the first is made. */
const namesIn = (root: string): Promise<readonly string[]> => readdir(root).catch(ifMissing([]))

/** Returns the size of the newest snapshot; 0: there is none. */
const newestBytes = async (root: string): Promise<number> => {
  const [newest] = await listSnapshotFolders(root)
  if (newest === undefined) return 0
  const names = await namesIn(join(root, String(newest)))
  const sizes = await Promise.all(names.map(async name => (await stat(join(root, String(newest), name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

interface Place {
  readonly file: FileName
  readonly start: number
  readonly length: number
}

/** Complete snapshot, opened for reading. */
export class SnapshotFolder {
  readonly number: number
  /** Snapshot id (network/wire/snapshot.ts). */
  readonly id: Hex
  readonly manifest: SnapshotManifest
  readonly #path: string
  readonly #places: readonly Place[]

  private constructor(path: string, number: number, manifest: SnapshotManifest, places: readonly Place[]) {
    this.#path = path
    this.number = number
    this.manifest = manifest
    this.#places = places
    this.id = snapshotId(manifest)
  }

  static async open(root: string, number: number): Promise<SnapshotFolder> {
    const path = join(root, String(number))
    const index = await readFile(join(path, INDEX))
    const { manifest, lengths } = readIndex(index)
    const ends = [manifest.records.length, manifest.records.length + manifest.accounts.length] as const
    let [at, start] = [0, 0]
    const places = lengths.map((length, index): Place => {
      const file = index < ends[0] ? 0 : index < ends[1] ? 1 : 2
      if (file !== at) [at, start] = [file, 0]
      start += length
      return { file: FILES[file] as FileName, start: start - length, length }
    })
    return new SnapshotFolder(path, number, manifest, places)
  }

  /** Returns undefined when there is no such chunk, or the folder was deleted since. */
  async chunk(index: number): Promise<Uint8Array | undefined> {
    const place = this.#places[index]
    if (place === undefined) return undefined
    await using handle = await open(join(this.#path, place.file), 'r').catch(ifMissing(undefined))
    if (handle === undefined) return undefined
    const bytes = new Uint8Array(place.length)
    const { bytesRead } = await handle.read(bytes, 0, place.length, place.start)
    assert(bytesRead === place.length, 'a snapshot has the length in its index')
    return bytes
  }
}

const readIndex = (bytes: Uint8Array): { readonly manifest: SnapshotManifest; readonly lengths: readonly number[] } => {
  const { manifest, lengths } = readWholeList(bytes, cursor => ({
    manifest: manifestCodec.decode(cursor.raw()),
    lengths: cursor.items(() => cursor.safeUint()),
  }))
  if (manifest?.format !== SNAPSHOT_FORMAT) throw new Error(`a snapshot of format ${manifest?.format}`)
  return { manifest, lengths }
}
