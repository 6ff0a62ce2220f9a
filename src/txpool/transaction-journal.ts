import { crc32 } from 'node:zlib'
import { asBuffer, bytesEqual } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { BLOCK_BOUNDS } from '../config/protocol-bounds.ts'
import type { JournalStorage } from './journal-file.ts'
import type { PoolError } from './pool/errors.ts'
import { WaitingTransactions } from './waiting-transactions.ts'

export interface JournalWrite {
  readonly transactions: number
  readonly bytes: number
  readonly durationMs: number
}

interface JournalOptions {
  readonly storage: JournalStorage
  /** Returns the local transactions still pooled, which a rewrite keeps. */
  readonly live: () => Iterable<Uint8Array>
  /** Size above which the file is rewritten, or twice the live size if that is larger. */
  readonly limitBytes: number
  readonly logger: Logger
  /** Called after each write, for metrics. */
  readonly onWritten?: (written: JournalWrite) => void
}

/** Transactions that share one write and one sync. */
interface Batch {
  readonly raws: Uint8Array[]
  readonly written: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

const REWRITE_CHUNK = 512

/** Journal of local transactions, so that a restart loses none. Appends during a sync share the next one. */
export class TransactionJournal {
  /** Transactions that a rewrite keeps although the pool does not have them. */
  readonly waiting = new WaitingTransactions()
  readonly #options: JournalOptions
  #next: Batch | undefined
  #working: Promise<void> | undefined
  #sizeBytes = 0
  #limitBytes: number
  /** The end of the file is unknown: it must be rewritten before the next append. */
  #mustRewrite = true
  #isBehind = false
  #closed = false

  constructor(options: JournalOptions) {
    this.#options = options
    this.#limitBytes = options.limitBytes
  }

  /** True since a write that failed, until one succeeds: local transactions of the pool may be missing on disk. */
  get isBehind(): boolean {
    return this.#isBehind
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Returns the last run's transactions, oldest first; a torn tail is logged. Nothing is written before `rewrite` or `append`. */
  async load(): Promise<readonly Uint8Array[]> {
    const bytes = await this.#options.storage.read()
    const { transactions, lostBytes } = decodeJournal(bytes)
    if (lostBytes > 0)
      this.#options.logger.warn({ lostBytes, kept: transactions.length }, 'transaction journal had a torn tail')
    return transactions
  }

  /** Resolves when the transactions are on disk; rejects with JOURNAL_FAILED. */
  append(...raws: readonly Uint8Array[]): Promise<void> {
    if (this.#closed) return Promise.reject(new CodedError<PoolError>({ code: 'JOURNAL_FAILED' }))
    this.#next ??= newBatch()
    this.#next.raws.push(...raws)
    this.#working ??= this.#work()
    return this.#next.written
  }

  /** Removes transactions that left the pool from the file, before the next append. */
  rewrite(): Promise<void> {
    if (this.#closed) return Promise.reject(new CodedError<PoolError>({ code: 'JOURNAL_FAILED' }))
    this.#mustRewrite = true
    this.#next ??= newBatch()
    this.#working ??= this.#work()
    return this.#next.written
  }

  /** Waits for pending appends; later appends are refused. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#working
    await this.#options.storage.close()
  }

  async #work(): Promise<void> {
    // Recovered transactions are admitted in batches within one tick: wait for all of them.
    await new Promise(resolve => setImmediate(resolve))
    for (let batch = this.#next; batch !== undefined; batch = this.#next) {
      this.#next = undefined
      const startedMs = performance.now()
      try {
        const bytes = await this.#write(batch.raws)
        this.#isBehind = false
        this.#options.onWritten?.({ transactions: batch.raws.length, bytes, durationMs: performance.now() - startedMs })
        batch.resolve()
      } catch (error) {
        this.#mustRewrite = this.#isBehind = true
        this.#options.logger.error(
          { err: error, transactions: batch.raws.length },
          'transaction journal could not be written',
        )
        batch.reject(new CodedError<PoolError>({ code: 'JOURNAL_FAILED' }, { cause: error }))
      }
    }
    this.#working = undefined
  }

  async #write(raws: readonly Uint8Array[]): Promise<number> {
    const { storage, live, limitBytes } = this.#options
    const records = encodeRecords(raws)
    if (!this.#mustRewrite && this.#sizeBytes + records.byteLength <= this.#limitBytes) {
      await storage.append(records)
      this.#sizeBytes += records.byteLength
      return records.byteLength
    }
    // Transactions of this batch are live already, or no longer needed. The pool may take some of those that wait meanwhile.
    this.#sizeBytes = await storage.replace(fileOf(live(), [...this.waiting.values()]))
    this.#limitBytes = Math.max(limitBytes, 2 * this.#sizeBytes)
    this.#mustRewrite = false
    return this.#sizeBytes
  }
}

/** Yields the file in pieces, so that a rewrite of thousands never blocks the thread for long. */
function* fileOf(...sources: readonly Iterable<Uint8Array>[]): Generator<Uint8Array, void, undefined> {
  yield JOURNAL_MAGIC
  let chunk: Uint8Array[] = []
  for (const raws of sources)
    for (const raw of raws) {
      chunk.push(raw)
      if (chunk.length < REWRITE_CHUNK) continue
      yield encodeRecords(chunk)
      chunk = []
    }
  if (chunk.length > 0) yield encodeRecords(chunk)
}

const newBatch = (): Batch => {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // Callers that await it see the rejection; a rewrite that is not awaited must not end the process.
  promise.catch(() => undefined)
  return { raws: [], written: promise, resolve, reject }
}

/*
 * File format: eight bytes that identify the format, then consecutive records, numbers little-endian:
 *   size u32 | crc32 u32 of size and bytes | bytes of a raw transaction
 * There are no empty records, so that a tail of zeros, which a crash can leave, is not a record.
 */
export const JOURNAL_MAGIC: Uint8Array = Buffer.from('TNDMTXJ1', 'latin1')
const HEAD_BYTES = 8

/** Returns the records of these transactions in one piece. */
export const encodeRecords = (raws: readonly Uint8Array[]): Uint8Array => {
  let size = 0
  for (const raw of raws) size += HEAD_BYTES + raw.byteLength
  const out = Buffer.allocUnsafe(size)
  let at = 0
  for (const raw of raws) {
    out.writeUInt32LE(raw.byteLength, at)
    out.set(raw, at + HEAD_BYTES)
    out.writeUInt32LE(checksum(out, at, raw.byteLength), at + 4)
    at += HEAD_BYTES + raw.byteLength
  }
  return out
}

/** Reads up to the first torn or damaged record; the bytes after it are lost, and all of a file of another format. */
export const decodeJournal = (bytes: Uint8Array) => {
  const file = asBuffer(bytes)
  if (!bytesEqual(file.subarray(0, HEAD_BYTES), JOURNAL_MAGIC)) return { transactions: [], lostBytes: file.byteLength }
  const transactions: Uint8Array[] = []
  let at = JOURNAL_MAGIC.byteLength
  while (at + HEAD_BYTES <= file.byteLength) {
    const size = file.readUInt32LE(at)
    const end = at + HEAD_BYTES + size
    if (size === 0 || size > BLOCK_BOUNDS.transactionBytes || end > file.byteLength) break
    if (file.readUInt32LE(at + 4) !== checksum(file, at, size)) break
    transactions.push(file.subarray(at + HEAD_BYTES, end))
    at = end
  }
  return { transactions, lostBytes: file.byteLength - at }
}

const checksum = (file: Buffer, at: number, size: number): number =>
  crc32(file.subarray(at + HEAD_BYTES, at + HEAD_BYTES + size), crc32(file.subarray(at, at + 4)))
