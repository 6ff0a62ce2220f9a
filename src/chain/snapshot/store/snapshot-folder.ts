import { open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SNAPSHOT_LIMITS } from '../../../config/limits/sync.ts'
import { encodeManifest, manifestCodec, type SnapshotManifest, snapshotId } from '../../../network/wire/snapshot.ts'
import { encodeRlp, encodeRlpList, uintItem } from '../../../primitives/rlp/rlp.ts'
import { RlpCursor } from '../../../primitives/rlp/rlp-cursor.ts'
import type { ByteSink } from '../../../state/snapshot/make-snapshot.ts'
import { assert } from '../../../util/assert.ts'
import type { Hex } from '../../../util/bytes.ts'
import { makeFolder } from '../../../util/fs/make-folder.ts'
import { SNAPSHOT_FORMAT } from '../format.ts'

/*
 * Snapshot on disk: a folder named by its block's number with three files of concatenated chunks, and an index, which is RLP of
 * [manifest, lengths of the chunks]. An unfinished folder has another name, so that the remains of a crash are never taken as complete.
 */
const FILES = ['records', 'accounts', 'storages'] as const
type FileName = (typeof FILES)[number]
const INDEX = 'index'
const UNFINISHED = 'new-'

/** Appends to one file, collected into large writes. */
export class FileSink implements ByteSink {
  readonly #handle: Awaited<ReturnType<typeof open>>
  #waiting: Uint8Array[] = []
  #bytes = 0

  private constructor(handle: Awaited<ReturnType<typeof open>>) {
    this.#handle = handle
  }

  static async create(path: string): Promise<FileSink> {
    return new FileSink(await open(path, 'wx', 0o600))
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
    await this.#handle.close()
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#bytes = 0
    await this.#handle.appendFile(bytes)
  }
}

/** Creates the folder for a new snapshot; the remains of an earlier attempt are deleted. */
export const beginSnapshotFolder = async (root: string, number: number): Promise<string> => {
  const folder = join(root, `${UNFINISHED}${number}`)
  await rm(folder, { recursive: true, force: true })
  makeFolder(folder)
  return folder
}

/** Completes a snapshot: writes the index and renames the folder. */
export const finishSnapshotFolder = async (
  root: string,
  number: number,
  manifest: SnapshotManifest,
  lengths: readonly number[],
): Promise<void> => {
  const folder = join(root, `${UNFINISHED}${number}`)
  const index = encodeRlpList([encodeRlpList([encodeManifest(manifest)]), encodeRlp(lengths.map(uintItem))])
  await writeFile(join(folder, INDEX), index, { mode: 0o600, flush: true })
  await rm(join(root, String(number)), { recursive: true, force: true })
  await rename(folder, join(root, String(number)))
}

/** Returns the numbers of the complete snapshots, newest first. */
export const listSnapshotFolders = async (root: string): Promise<readonly number[]> => {
  const names = await readdir(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names
    .filter(name => /^\d{1,15}$/.test(name))
    .map(Number)
    .sort((a, b) => b - a)
}

/** Deletes all but the newest snapshots and those in use, and unfinished ones. */
export const pruneSnapshotFolders = async (root: string, kept: number, inUse: readonly number[]): Promise<void> => {
  const old = (await listSnapshotFolders(root))
    .slice(kept)
    .filter(number => !inUse.includes(number))
    .map(String)
  const unfinished = (await readdir(root)).filter(name => name.startsWith(UNFINISHED))
  for (const name of [...old, ...unfinished]) await rm(join(root, name), { recursive: true, force: true })
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
    const handle = await openExisting(join(this.#path, place.file))
    if (handle === undefined) return undefined
    try {
      const bytes = new Uint8Array(place.length)
      const { bytesRead } = await handle.read(bytes, 0, place.length, place.start)
      assert(bytesRead === place.length, 'a snapshot has the length in its index')
      return bytes
    } finally {
      await handle.close()
    }
  }
}

const openExisting = (path: string) =>
  open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

const readIndex = (bytes: Uint8Array): { readonly manifest: SnapshotManifest; readonly lengths: readonly number[] } => {
  const cursor = new RlpCursor(bytes)
  const outer = cursor.openList()
  const manifest = manifestCodec.decode(cursor.raw())
  const list = cursor.openList()
  const lengths: number[] = []
  while (cursor.hasMore()) lengths.push(cursor.safeUint())
  cursor.closeList(list)
  cursor.closeList(outer)
  cursor.finish()
  if (manifest?.format !== SNAPSHOT_FORMAT) throw new Error(`a snapshot of format ${manifest?.format}`)
  return { manifest, lengths }
}
