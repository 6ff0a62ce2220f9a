import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ifMissing } from '@tandem/base/fs/if-missing.ts'

/*
 * LevelDB maps its tables into memory: reading beyond the end of one that was cut short ends the process by SIGBUS, without a word. So their
 * sizes are compared with those in the manifest before the database is opened. Formats: LevelDB's description of its log, and its version edits.
 * Without CURRENT, as in a folder that was deleted or copied in part, LevelDB begins a new database with the rows of the last log, and deletes
 * the tables.
 */

const BLOCK_BYTES = 32_768
const RECORD_HEADER_BYTES = 7
const [FULL, FIRST, MIDDLE, LAST] = [1, 2, 3, 4]
const [COMPARATOR, COMPACT_POINTER, DELETED_FILE, NEW_FILE] = [1, 5, 6, 7]
/** Tags of the log, the next file, the last sequence number and the previous log, each with one number. */
const NUMBER_TAGS: readonly number[] = [2, 3, 4, 9]

/** Returns what is wrong with the files of a database, before it is opened; undefined: nothing, or there is no database yet. */
export const tablesFault = async (path: string): Promise<string | undefined> => {
  // Another process that opens the database may replace the manifest between the two reads.
  const manifest = await readManifest(path)
    .catch(() => readManifest(path))
    .catch((error: NodeJS.ErrnoException) => error)
  if (manifest instanceof Error) {
    const names = manifest.code === 'ENOENT' ? await readdir(path).catch(() => []) : []
    return names.some(name => name.endsWith('.ldb') || name.endsWith('.log')) ? manifest.message : undefined
  }
  const found = await Promise.all(
    [...tablesOf(manifest)].map(async ([number, bytes]) => {
      const size = await sizeOf(path, number)
      return size !== undefined && size < bytes ? `table file ${number} has ${size} of ${bytes} bytes` : undefined
    }),
  )
  return found.find(problem => problem !== undefined)
}

const readManifest = async (path: string): Promise<Buffer> => {
  const current = await readFile(join(path, 'CURRENT'), 'utf8')
  return readFile(join(path, current.trim()))
}

/** Returns undefined for a table that is missing, which LevelDB reports, or was replaced meanwhile by another thread. */
const sizeOf = async (path: string, number: number): Promise<number | undefined> => {
  for (const extension of ['ldb', 'sst']) {
    const file = join(path, `${String(number).padStart(6, '0')}.${extension}`)
    const found = await stat(file).catch(ifMissing(undefined))
    if (found) return found.size
  }
  return undefined
}

/** Sizes of the live tables by number, as far as the manifest can be read. */
const tablesOf = (manifest: Buffer): ReadonlyMap<number, number> => {
  const tables = new Map<number, number>()
  try {
    for (const edit of recordsOf(manifest)) applyEdit(tables, new EditCursor(edit))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return tables
}

/** Yields the records of a log; a torn one at its end is left out. */
function* recordsOf(log: Buffer): Generator<Buffer> {
  let parts: Buffer[] = []
  for (let at = 0; at + RECORD_HEADER_BYTES <= log.byteLength; ) {
    const left = BLOCK_BYTES - (at % BLOCK_BYTES)
    if (left < RECORD_HEADER_BYTES) {
      at += left
      continue
    }
    const begin = at + RECORD_HEADER_BYTES
    const end = begin + log.readUInt16LE(at + 4)
    const type = log[at + 6]
    if (end > log.byteLength) return
    if (type === FULL || type === FIRST) parts = []
    if (type === FULL || type === FIRST || type === MIDDLE || type === LAST) parts.push(log.subarray(begin, end))
    if (type === FULL || type === LAST) yield Buffer.concat(parts)
    at = end
  }
}

const applyEdit = (tables: Map<number, number>, edit: EditCursor): void => {
  while (edit.hasMore) {
    const tag = edit.number()
    if (tag === COMPARATOR) edit.skipBytes()
    else if (tag === COMPACT_POINTER) {
      edit.number()
      edit.skipBytes()
    } else if (tag === DELETED_FILE) {
      edit.number()
      tables.delete(edit.number())
    } else if (tag === NEW_FILE) {
      edit.number()
      tables.set(edit.number(), edit.number())
      edit.skipBytes()
      edit.skipBytes()
    } else if (NUMBER_TAGS.includes(tag)) edit.number()
    else throw new RangeError(`tag ${tag} of an edit`)
  }
}

/** Reads varints and length-prefixed bytes. Throws RangeError at the end. */
class EditCursor {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get hasMore(): boolean {
    return this.#at < this.#bytes.byteLength
  }

  number(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes.readUInt8(this.#at++)
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }

  skipBytes(): void {
    const length = this.number()
    this.#at += length
  }
}
