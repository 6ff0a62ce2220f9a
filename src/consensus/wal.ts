import { crc32 } from 'node:zlib'
import { LIMITS } from '../config/limits.ts'
import { assert } from '../util/assert.ts'
import { asBuffer } from '../util/bytes.ts'
import type { DurableFile, FileSystem } from './files.ts'

/**
 * Write-ahead log: what this node said and must not contradict after a restart (reference/consensus.md 1.11).
 *
 * Record: u32 length of what follows the checksum | u32 crc32 of it | u8 type | u32 batch | payload. (crc32 rather than crc32c:
 * node:zlib has it natively.) Records wait in memory until they are taken and written as one batch and waits for the disk, and the
 * next batch is written only after that. So at any crash one batch at most is in doubt, and of that batch nothing had left the process.
 * The file is filled with zeros ahead of the writing position: a sync then has no change of the file's size to record.
 */
export interface WalEntry {
  readonly type: number
  readonly payload: Uint8Array
}

/** `missing`: there is no log. `corrupt`: a batch that was durable is damaged; its contents cannot be relied on. */
export type WalCondition = 'missing' | 'sound' | 'corrupt'

export interface Wal {
  readonly condition: WalCondition
  /** What the log held when it was opened, oldest first; given once, then forgotten. */
  takeEntries(): readonly WalEntry[]
  append(type: number, payload: Uint8Array): void
  /** Whether anything waits to be written. */
  readonly isDirty: boolean
  /** Takes all records waiting now as one batch; the answer writes it and resolves when it is durable. One batch at a time. */
  take(): () => Promise<void>
  /** Bytes in use, waiting ones included. */
  readonly sizeBytes: number
  /** Starts the log anew with these entries alone, at one stroke. Nothing may wait. */
  reset(entries: readonly WalEntry[]): Promise<void>
  close(): Promise<void>
}

const MAGIC = new TextEncoder().encode('PBFTWAL1')
const RECORD_HEADER_BYTES = 8
const BODY_HEADER_BYTES = 5
const PREALLOCATED_BYTES = 256 * 1024

export const openWal = async (files: FileSystem, path: string): Promise<Wal> => {
  const content = await files.read(path)
  const scanned = scan(content)
  return new FileWal(files, path, scanned, content?.byteLength ?? 0)
}

class FileWal implements Wal {
  readonly condition: WalCondition
  #entries: readonly WalEntry[]
  #mustReset: boolean
  readonly #files: FileSystem
  readonly #path: string
  #file: DurableFile | null = null
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #takenBytes = 0
  #position: number
  #allocated: number
  #batch: number
  #tornBytes: number
  #writing = false

  constructor(files: FileSystem, path: string, scanned: Scan, fileBytes: number) {
    this.#files = files
    this.#path = path
    this.condition = scanned.condition
    this.#entries = scanned.entries
    this.#mustReset = scanned.condition === 'corrupt'
    this.#position = scanned.end
    this.#batch = scanned.batch + 1
    this.#allocated = fileBytes
    this.#tornBytes = scanned.tornBytes
  }

  takeEntries(): readonly WalEntry[] {
    const entries = this.#entries
    this.#entries = []
    return entries
  }

  get sizeBytes(): number {
    return this.#position + this.#takenBytes + this.#waitingBytes
  }

  get isDirty(): boolean {
    return this.#waitingBytes > 0
  }

  append(type: number, payload: Uint8Array): void {
    const record = recordOf(type, this.#batch, payload)
    this.#waiting.push(record)
    this.#waitingBytes += record.byteLength
  }

  take(): () => Promise<void> {
    if (!this.isDirty) return async () => {}
    const batch = Buffer.concat(this.#waiting, this.#waitingBytes)
    this.#waiting = []
    this.#waitingBytes = 0
    this.#takenBytes = batch.byteLength
    this.#batch++
    return () => this.#write(batch)
  }

  async #write(batch: Uint8Array): Promise<void> {
    assert(!this.#writing, 'one batch of the log at a time')
    this.#writing = true
    this.#file ??= await this.#openFile()
    this.#allocate(this.#position + batch.byteLength)
    this.#file.write(batch, this.#position)
    this.#position += batch.byteLength
    this.#takenBytes = 0
    await this.#file.sync()
    // Stays set after a failure: what reached the disk is unknown then, and nothing may be written behind it.
    this.#writing = false
  }

  async reset(entries: readonly WalEntry[]): Promise<void> {
    assert(!this.isDirty && !this.#writing, 'a log is reset when nothing waits')
    await this.close()
    const records = entries.map(({ type, payload }) => recordOf(type, this.#batch - 1, payload))
    const content = Buffer.concat([MAGIC, ...records])
    await this.#files.replace(this.#path, content)
    this.#position = content.byteLength
    this.#allocated = content.byteLength
    this.#tornBytes = 0
    this.#mustReset = false
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = null
    await file?.close()
  }

  async #openFile(): Promise<DurableFile> {
    assert(!this.#mustReset, 'a corrupt log is reset before it is written')
    const file = await this.#files.open(this.#path)
    if (this.#position === 0) {
      file.write(MAGIC, 0)
      this.#position = MAGIC.byteLength
      this.#allocated = Math.max(this.#allocated, MAGIC.byteLength)
    }
    // The remains of a torn batch must not stand behind records written from now on.
    if (this.#tornBytes > 0) file.write(new Uint8Array(this.#tornBytes), this.#position)
    this.#tornBytes = 0
    await file.sync()
    return file
  }

  #allocate(end: number): void {
    if (end <= this.#allocated) return
    const next = Math.ceil((end + 1) / PREALLOCATED_BYTES) * PREALLOCATED_BYTES
    this.#file?.write(new Uint8Array(next - this.#allocated), this.#allocated)
    this.#allocated = next
  }
}

const recordOf = (type: number, batch: number, payload: Uint8Array): Uint8Array => {
  assert(type > 0 && type < 256, 'record types are bytes above zero')
  const record = Buffer.allocUnsafe(RECORD_HEADER_BYTES + BODY_HEADER_BYTES + payload.byteLength)
  record.writeUInt32LE(BODY_HEADER_BYTES + payload.byteLength, 0)
  record.writeUInt8(type, 8)
  record.writeUInt32LE(batch, 9)
  record.set(payload, 13)
  record.writeUInt32LE(crc32(record.subarray(RECORD_HEADER_BYTES)), 4)
  return record
}

interface Scan {
  readonly condition: WalCondition
  readonly entries: readonly WalEntry[]
  /** Where the next record goes. */
  readonly end: number
  readonly batch: number
  readonly tornBytes: number
}

const scan = (content: Uint8Array | undefined): Scan => {
  const empty = { entries: [], end: 0, batch: 0, tornBytes: 0 }
  if (content === undefined) return { condition: 'missing', ...empty }
  const bytes = asBuffer(content)
  // The magic is durable before the first batch is written, so a torn one has nothing behind it.
  const used = usedBytes(bytes)
  if (used < MAGIC.byteLength && asBuffer(MAGIC).subarray(0, used).equals(bytes.subarray(0, used))) {
    return { condition: 'missing', ...empty }
  }
  if (!bytes.subarray(0, MAGIC.byteLength).equals(MAGIC)) return { condition: 'corrupt', ...empty }
  const entries: WalEntry[] = []
  let at = MAGIC.byteLength
  let batch = 0
  for (let record = readRecord(bytes, at); record !== null; record = readRecord(bytes, at)) {
    entries.push(record.entry)
    batch = record.batch
    at = record.end
  }
  const tornBytes = used - at
  const corrupt = tornBytes > 0 && hasLaterBatch(bytes, at, batch)
  return { condition: corrupt ? 'corrupt' : 'sound', entries, end: at, batch, tornBytes: Math.max(0, tornBytes) }
}

interface ReadRecord {
  readonly entry: WalEntry
  readonly batch: number
  readonly end: number
}

const readRecord = (bytes: Buffer, at: number): ReadRecord | null => {
  const start = at + RECORD_HEADER_BYTES
  if (start + BODY_HEADER_BYTES > bytes.byteLength) return null
  const length = bytes.readUInt32LE(at)
  const end = start + length
  if (length < BODY_HEADER_BYTES || end > bytes.byteLength) return null
  const body = bytes.subarray(start, end)
  if (crc32(body) !== bytes.readUInt32LE(at + 4)) return null
  return {
    entry: { type: body.readUInt8(0), payload: new Uint8Array(body.subarray(BODY_HEADER_BYTES)) },
    batch: body.readUInt32LE(1),
    end,
  }
}

/** Length without the zeros at the end. */
const usedBytes = (bytes: Buffer): number => {
  let end = bytes.byteLength
  while (end > 0 && bytes[end - 1] === 0) end--
  return end
}

/**
 * Whether a whole record of a batch after the one in doubt stands behind the damage. The batch in doubt is that of the last
 * sound record or the next; one later still was written only after that was durable, so then it is no torn write.
 */
const hasLaterBatch = (bytes: Buffer, damagedAt: number, lastBatch: number): boolean => {
  let budget = LIMITS.consensus.walBytes * 4
  for (let at = damagedAt + 1; at < bytes.byteLength && budget > 0; at++) {
    const start = at + RECORD_HEADER_BYTES
    if (start + BODY_HEADER_BYTES > bytes.byteLength) return false
    const length = bytes.readUInt32LE(at)
    const batch = bytes.readUInt32LE(start + 1)
    if (length < BODY_HEADER_BYTES || length > bytes.byteLength - start || batch <= lastBatch + 1) continue
    // The batch counter makes chance hits rare; the budget bounds what they cost.
    if (batch > lastBatch + bytes.byteLength) continue
    budget -= length
    if (readRecord(bytes, at) !== null) return true
  }
  return false
}
