import { assert } from '@tandem/base/assert.ts'
import type { DurableFile, FileSystem } from './file-system.ts'
import { encodeWalRecord, scanWal, WAL_MAGIC, type WalCondition, type WalEntry, type WalScan } from './wal-format.ts'

/**
 * Write-ahead log: messages of this node that it must not contradict after a restart (docs/design/consensus.md#write-ahead-log).
 *
 * Records wait in memory until they are taken, written as one batch and synced; the next batch is written only after that. So a
 * crash leaves at most one batch in doubt, and no message of that batch had left the process. The file is filled with zeros ahead
 * of the writing position: a sync then need not record a change of the file's size.
 */
export interface Wal {
  readonly condition: WalCondition
  /** Content of the log when it was opened, oldest first; returned once, then freed. */
  takeEntries(): readonly WalEntry[]
  append(type: number, payload: Uint8Array): void
  /** True when records wait to be written. */
  readonly isDirty: boolean
  /** Takes all waiting records as one batch; the returned function writes it and resolves when it is durable. One batch at a time. */
  take(): () => Promise<void>
  /** Bytes in use, waiting records included. */
  readonly sizeBytes: number
  /** Restarts the log with only these entries, atomically. No records may be waiting. */
  reset(entries: readonly WalEntry[]): Promise<void>
  /** Empties the log, waiting records included: the next start finds it missing. It must be reset before more is appended. */
  discard(): Promise<void>
  close(): Promise<void>
}

const PREALLOCATED_BYTES = 256 * 1024

export const openWal = async (files: FileSystem, path: string): Promise<Wal> => {
  const content = await files.read(path)
  const scanned = scanWal(content)
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

  constructor(files: FileSystem, path: string, scanned: WalScan, fileBytes: number) {
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
    const record = encodeWalRecord({ type, payload }, this.#batch)
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
    // Stays set after a failure: the content on disk is unknown then, and nothing may be appended.
    this.#writing = false
  }

  async reset(entries: readonly WalEntry[]): Promise<void> {
    assert(!this.isDirty && !this.#writing, 'a log is reset when nothing waits')
    const records = entries.map(entry => encodeWalRecord(entry, this.#batch - 1))
    await this.#replace(Buffer.concat([WAL_MAGIC, ...records]))
    this.#mustReset = false
  }

  async discard(): Promise<void> {
    assert(!this.#writing, 'a log is discarded when nothing is written')
    this.#waiting = []
    this.#waitingBytes = 0
    await this.#replace(new Uint8Array())
    this.#mustReset = true
  }

  async #replace(content: Uint8Array): Promise<void> {
    await this.close()
    await this.#files.replace(this.#path, content)
    this.#position = content.byteLength
    this.#allocated = content.byteLength
    this.#tornBytes = 0
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = null
    await file?.close()
  }

  async #openFile(): Promise<DurableFile> {
    assert(!this.#mustReset, 'a corrupt or discarded log is reset before it is written')
    const file = await this.#files.open(this.#path)
    if (this.#position === 0) {
      file.write(WAL_MAGIC, 0)
      this.#position = WAL_MAGIC.byteLength
      this.#allocated = Math.max(this.#allocated, WAL_MAGIC.byteLength)
    }
    // The remains of a torn batch must not follow the records written from now on.
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
