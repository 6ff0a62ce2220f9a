import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32, type ZstdOptions, zstdCompress, zstdDecompress, zstdDecompressSync } from 'node:zlib'
import { asBuffer, bytesToHex } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { Lru } from '@tandem/base/lru.ts'
import { STORAGE_LIMITS } from '../config/limits/storage.ts'
import { storeError } from './errors.ts'
import { NUMBER_BYTES, numberKey, readNumber } from './keys.ts'

/*
 * File of the old rows of `segmentBlocks` blocks: header, frames, index, trailer. A frame is compressed and holds rows of one table, in order;
 * the index has an entry for each. Integers are big-endian. Formats in bytes:
 *   header: magic (8), hash of the chain's genesis (32), first block (8)
 *   index entry: bucket (1), block of the frame's first row less the segment's first (2), part of that row (4), offset in the file (6),
 *     bytes in the file (4), bytes decompressed (4), CRC-32 of the bytes in the file (4)
 *   trailer: number of entries (4), CRC-32 of header, index and these (4), magic (8)
 *   frame: number of rows (4), for each row block (2), part (4) and bytes (4), then the bytes of all
 * Keys are a block number, or that and a part from 1.
 */
const MAGIC = Buffer.from('TNDMSEG2')
const HEADER_BYTES = 48
const ENTRY_BYTES = 25
const TRAILER_BYTES = 16
const COUNT_BYTES = 4
const ROW_BYTES = 10

// Made when they are called, since Node.js has zstd from 22.15 on and tandem/devnet, which moves no segments, runs on older ones.
const compress = (bytes: Buffer): Promise<Buffer> => promisify(zstdCompress)(bytes)
const decompress = (bytes: Buffer, options: ZstdOptions): Promise<Buffer> => promisify(zstdDecompress)(bytes, options)

/** Open file of a segment, and what decompresses its frames. */
interface SegmentFile extends AsyncDisposable {
  read(target: Buffer, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>
  stat(): Promise<{ readonly size: number }>
  readonly decompress: typeof decompress
}

/** Opens a file whose reads and frames go to the system's threads. */
const openApart = async (path: string): Promise<SegmentFile> => {
  const file = await open(path, 'r')
  return {
    ...{ decompress, read: (...of) => file.read(...of), stat: () => file.stat() },
    [Symbol.asyncDispose]: () => file.close(),
  }
}

/** Opens a file that this thread itself reads: a few microseconds each, where a turn of the system's threads takes some hundred. */
const openHere = async (path: string): Promise<SegmentFile> => {
  const file = openSync(path, 'r')
  return {
    decompress: async (...of) => zstdDecompressSync(...of),
    read: async (...of) => ({ bytesRead: readSync(file, ...of) }),
    stat: async () => fstatSync(file),
    [Symbol.asyncDispose]: async () => closeSync(file),
  }
}

const { frameRows, frameBytes, segmentCacheBytes } = STORAGE_LIMITS

/** Row of the meta table that names the store's chain; it ends with the hash of the genesis in hex (schema.ts). */
export const IDENTITY_ROW = new TextEncoder().encode('schema')

/** Row of the `MovedBlocks`. */
export const MOVED_ROW = new TextEncoder().encode('segments')

/** Blocks from `dropped` on and below `moved` are in segments; the rows of those below `cleared` are deleted from the tables. */
export interface MovedBlocks {
  readonly moved: number
  readonly cleared: number
  readonly dropped: number
}

export const decodeMoved = (row: Uint8Array = new Uint8Array(3 * NUMBER_BYTES)): MovedBlocks => ({
  moved: readNumber(row),
  cleared: readNumber(row, NUMBER_BYTES),
  dropped: readNumber(row, 2 * NUMBER_BYTES),
})

/** Row with its place: its block less the segment's first, and its part, 0 for keys of a number alone. */
export interface SegmentRow {
  readonly bucket: number
  readonly block: number
  readonly part: number
  readonly value: Uint8Array
}

/** Returns the place of a key in its segment. */
export const segmentPlace = (key: Uint8Array, segmentBlocks: number): Omit<SegmentRow, 'bucket' | 'value'> => ({
  block: readNumber(key) % segmentBlocks,
  part: key.byteLength > NUMBER_BYTES ? readNumber(key, NUMBER_BYTES) : 0,
})

export const segmentPath = (folder: string, first: number): string => join(folder, `${first}.seg`)

/** Returns the header of the segment that begins with a block of the chain of an `IDENTITY_ROW`. */
export const segmentHeader = (identity: Uint8Array = new Uint8Array(0), first: number): Buffer => {
  const genesis = asBuffer(identity).toString('latin1').slice(-64).padStart(64, '0')
  return Buffer.concat([MAGIC, Buffer.from(genesis, 'hex'), numberKey(first)])
}

/** Writes the rows of a segment, ordered by bucket and key, to an open file, and syncs it. */
export const writeSegment = async (file: FileHandle, header: Buffer, rows: AsyncIterable<SegmentRow>) => {
  const index: Buffer[] = []
  let at = HEADER_BYTES
  const end = async (frame: readonly SegmentRow[]): Promise<void> => {
    const [head] = frame
    if (head === undefined) return
    const raw = encodeFrame(frame)
    const stored = await compress(raw)
    await file.writeFile(stored)
    const entry = Buffer.alloc(ENTRY_BYTES)
    entry.writeUInt8(head.bucket)
    entry.writeUInt16BE(head.block, 1)
    entry.writeUInt32BE(head.part, 3)
    entry.writeUIntBE(at, 7, 6)
    for (const [i, value] of [stored.byteLength, raw.byteLength, crc32(stored)].entries())
      entry.writeUInt32BE(value, 13 + 4 * i)
    index.push(entry)
    at += stored.byteLength
  }
  await file.writeFile(header)
  let frame: SegmentRow[] = []
  let bytes = 0
  for await (const row of rows) {
    const isFull = frame.length === frameRows || bytes + row.value.byteLength > frameBytes
    if (isFull || row.bucket !== frame[0]?.bucket) {
      await end(frame)
      frame = []
      bytes = 0
    }
    frame.push(row)
    bytes += row.value.byteLength
  }
  await end(frame)
  const trailer = Buffer.alloc(TRAILER_BYTES)
  trailer.writeUInt32BE(index.length)
  const entries = Buffer.concat(index)
  trailer.writeUInt32BE(indexChecksum(header, entries, trailer), 4)
  trailer.set(MAGIC, 8)
  await file.writeFile(Buffer.concat([entries, trailer]))
  await file.sync()
}

const indexChecksum = (header: Buffer, index: Buffer, trailer: Buffer): number =>
  crc32(trailer.subarray(0, 4), crc32(index, crc32(header)))

const encodeFrame = (rows: readonly SegmentRow[]): Buffer => {
  const table = Buffer.alloc(COUNT_BYTES + rows.length * ROW_BYTES)
  table.writeUInt32BE(rows.length)
  for (const [i, { block, part, value }] of rows.entries()) {
    const at = COUNT_BYTES + i * ROW_BYTES
    table.writeUInt16BE(block, at)
    table.writeUInt32BE(part, at + 2)
    table.writeUInt32BE(value.byteLength, at + 6)
  }
  return Buffer.concat([table, ...rows.map(({ value }) => value)])
}

/** Returns a row of a frame; undefined: it has none. The bytes are a copy. */
const rowOfFrame = (frame: Buffer, block: number, part: number): Uint8Array | undefined => {
  const count = frame.readUInt32BE()
  let at = COUNT_BYTES + count * ROW_BYTES
  for (let i = 0; i < count; i++) {
    const entry = COUNT_BYTES + i * ROW_BYTES
    const bytes = frame.readUInt32BE(entry + 6)
    if (frame.readUInt16BE(entry) === block && frame.readUInt32BE(entry + 2) === part)
      return Uint8Array.from(frame.subarray(at, at + bytes))
    at += bytes
  }
  return undefined
}

type Entry = Readonly<ReturnType<typeof entryAt>>

const entryAt = (index: Buffer, i: number) => {
  const at = i * ENTRY_BYTES
  return {
    bucket: index.readUInt8(at),
    at: index.readUIntBE(at + 7, 6),
    stored: index.readUInt32BE(at + 13),
    raw: index.readUInt32BE(at + 17),
    crc: index.readUInt32BE(at + 21),
  }
}

/** Returns the number of the frame that would hold a row: the last that does not begin after it; -1: all do. */
const frameOf = (index: Buffer, bucket: number, { block, part }: ReturnType<typeof segmentPlace>): number => {
  const wanted = Buffer.alloc(7)
  wanted.writeUInt8(bucket)
  wanted.writeUInt16BE(block, 1)
  wanted.writeUInt32BE(part, 3)
  let low = -1
  for (let high = index.byteLength / ENTRY_BYTES - 1; low < high; ) {
    const middle = Math.ceil((low + high) / 2)
    if (index.compare(wanted, 0, 7, middle * ENTRY_BYTES, middle * ENTRY_BYTES + 7) <= 0) low = middle
    else high = middle - 1
  }
  return low
}

const damaged = (path: string, reason: string, cause?: unknown) =>
  storeError({ code: 'STORE_CORRUPT', path, reason }, cause)

/** Runs work with an open file. Throws STORE_CORRUPT when it is missing, STORE_READ_FAILED when the system refuses. */
const reading = async <T>(path: string, work: (file: SegmentFile) => Promise<T>, openFile = openApart): Promise<T> => {
  try {
    await using file = await openFile(path)
    return await work(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw damaged(path, 'the file is missing', error)
    if (code?.startsWith('E')) throw storeError({ code: 'STORE_READ_FAILED', path, reason: message }, error)
    throw error
  }
}

const readBytes = async (file: SegmentFile, path: string, at: number, bytes: number): Promise<Buffer> => {
  const target = Buffer.allocUnsafe(bytes)
  for (let done = 0; done < bytes; ) {
    const { bytesRead } = await file.read(target, done, bytes - done, at + done)
    if (bytesRead === 0) throw damaged(path, `the file ends at byte ${at + done}`)
    done += bytesRead
  }
  return target
}

/** Reads and checks the index of a segment; the sizes of its frames and its own are those of the file. */
const readIndex = async (file: SegmentFile, path: string, header: Buffer): Promise<Buffer> => {
  const { size } = await file.stat()
  const cut = () => damaged(path, 'its end is not that of a segment of this version: it was cut short or overwritten')
  if (size < HEADER_BYTES + TRAILER_BYTES) throw cut()
  const trailer = await readBytes(file, path, size - TRAILER_BYTES, TRAILER_BYTES)
  const indexBytes = trailer.readUInt32BE() * ENTRY_BYTES
  const begin = size - TRAILER_BYTES - indexBytes
  if (!trailer.subarray(8).equals(MAGIC) || begin < HEADER_BYTES) throw cut()
  const found = await readBytes(file, path, 0, HEADER_BYTES)
  const index = await readBytes(file, path, begin, indexBytes)
  if (indexChecksum(found, index, trailer) !== trailer.readUInt32BE(4))
    throw damaged(path, 'the checksum of its index is wrong')
  const chain = bytesToHex(found.subarray(8, 40))
  if (!found.equals(header))
    throw damaged(path, `it is the segment of block ${readNumber(found, 40)} of the chain with genesis ${chain}`)
  const last = indexBytes > 0 ? entryAt(index, indexBytes / ENTRY_BYTES - 1) : { at: HEADER_BYTES, stored: 0 }
  if (last.at + last.stored !== begin) throw damaged(path, 'bytes between its frames and its index')
  return index
}

const readFrame = async (file: SegmentFile, path: string, { at, stored, raw, crc }: Entry): Promise<Buffer> => {
  const bytes = await readBytes(file, path, at, stored)
  if (crc32(bytes) !== crc) throw damaged(path, `the checksum of the frame at byte ${at} is wrong`)
  try {
    return await file.decompress(bytes, { maxOutputLength: Math.max(1, raw), chunkSize: Math.max(64, raw) })
  } catch (error) {
    throw damaged(path, `the frame at byte ${at} cannot be decompressed`, error)
  }
}

/** Checks that a segment's file is there and whole: by its index, for each start, or every byte. Throws STORE_CORRUPT with its path. */
export const checkSegment = (path: string, header: Buffer, isDeep: boolean): Promise<void> =>
  reading(path, async file => {
    const index = await readIndex(file, path, header)
    let at = HEADER_BYTES
    for (let i = 0; isDeep && i < index.byteLength / ENTRY_BYTES; i++) {
      const entry = entryAt(index, i)
      if (entry.at !== at) throw damaged(path, `the frame at byte ${at} is not in the index`)
      const frame = await readFrame(file, path, entry)
      if (frame.byteLength !== entry.raw) throw damaged(path, `the frame at byte ${at} has another size`)
      at += entry.stored
    }
  })

/** Reader of the segments in a folder, with caches of indexes and frames. Worker threads read and decompress themselves. */
export class Segments {
  readonly #folder: string
  readonly #segmentBlocks: number
  readonly #open: typeof openApart
  readonly #indexes = new Lru<number, Buffer>({ limit: segmentCacheBytes, weigh: index => 256 + index.byteLength })
  readonly #frames = new Lru<string, Buffer>({ limit: segmentCacheBytes, weigh: frame => 256 + frame.byteLength })
  /** Readers at the same time share one read. */
  readonly #reads = new Map<string, Promise<Buffer>>()

  constructor(folder: string, segmentBlocks: number, isInWorker: boolean) {
    this.#folder = folder
    this.#segmentBlocks = segmentBlocks
    this.#open = isInWorker ? openHere : openApart
  }

  /** Returns a row; undefined when its block has none. `identity` is asked when the index is read. Throws STORE_CORRUPT or STORE_READ_FAILED. */
  async row(bucket: number, key: Uint8Array, identity: () => Uint8Array | undefined): Promise<Uint8Array | undefined> {
    const place = segmentPlace(key, this.#segmentBlocks)
    const first = readNumber(key) - place.block
    const path = segmentPath(this.#folder, first)
    const read = () => {
      const header = segmentHeader(identity(), first)
      return reading(path, file => readIndex(file, path, header), this.#open)
    }
    const index = this.#indexes.get(first) ?? (await this.#shared(path, read))
    this.#indexes.set(first, index)
    const number = frameOf(index, bucket, place)
    if (number < 0) return undefined
    const entry = entryAt(index, number)
    if (entry.bucket !== bucket) return undefined
    const name = `${path} ${number}`
    const frame =
      this.#frames.get(name) ??
      (await this.#shared(name, () => reading(path, file => readFrame(file, path, entry), this.#open)))
    this.#frames.set(name, frame)
    return rowOfFrame(frame, place.block, place.part)
  }

  #shared(name: string, read: () => Promise<Buffer>): Promise<Buffer> {
    return getOrMake(this.#reads, name, () => read().finally(() => this.#reads.delete(name)))
  }
}
