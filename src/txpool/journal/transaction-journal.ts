import { CodedError } from '../../util/errors.ts'
import type { Logger } from '../../util/logger.ts'
import type { PoolError } from '../errors.ts'
import type { JournalStorage } from './journal-file.ts'
import { decodeJournal, encodeRecords, JOURNAL_MAGIC } from './journal-format.ts'

export interface JournalOptions {
  readonly storage: JournalStorage
  /** Local transactions still pooled: what a rewrite keeps. */
  readonly live: () => Iterable<Uint8Array>
  /** Above this the file is rewritten; it may grow to twice what is live where that is more. */
  readonly limitBytes: number
  readonly logger: Logger
  /** Told after each write, for metrics. */
  readonly onWritten?: (written: {
    readonly transactions: number
    readonly bytes: number
    readonly durationMs: number
  }) => void
}

/** Transactions that share one write and one sync. */
interface Batch {
  readonly raws: Uint8Array[]
  readonly written: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

const REWRITE_CHUNK = 512

/**
 * Local transactions on disk, so that a restart loses none that was acknowledged. Appends that come while one is being synced share
 * the next: the disk is asked as often as it can answer, and each answer covers everything that waited for it.
 */
export class TransactionJournal {
  readonly #options: JournalOptions
  #next: Batch | undefined
  #working: Promise<void> | undefined
  #sizeBytes = 0
  #limitBytes: number
  /** The file ends in something unknown: it must be rewritten before it is appended to. */
  #mustRewrite = true
  #closed = false

  constructor(options: JournalOptions) {
    this.#options = options
    this.#limitBytes = options.limitBytes
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** What the last run left, oldest first. A torn tail is left out and logged. Nothing is written before `rewrite` or `append`. */
  async load(): Promise<readonly Uint8Array[]> {
    const bytes = await this.#options.storage.read()
    const { transactions, lostBytes } = decodeJournal(bytes)
    if (lostBytes > 0)
      this.#options.logger.warn({ lostBytes, kept: transactions.length }, 'transaction journal had a torn tail')
    return transactions
  }

  /** Resolves when the transaction is on disk; rejects with JOURNAL_FAILED. */
  append(raw: Uint8Array): Promise<void> {
    if (this.#closed) return Promise.reject(new CodedError<PoolError>({ code: 'JOURNAL_FAILED' }))
    this.#next ??= newBatch()
    this.#next.raws.push(raw)
    this.#working ??= this.#work()
    return this.#next.written
  }

  /** Drops what is no longer pooled from the file, before the next append. */
  rewrite(): Promise<void> {
    if (this.#closed) return Promise.reject(new CodedError<PoolError>({ code: 'JOURNAL_FAILED' }))
    this.#mustRewrite = true
    this.#next ??= newBatch()
    this.#working ??= this.#work()
    return this.#next.written
  }

  /** Waits for what was appended; later appends are refused. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#working
    await this.#options.storage.close()
  }

  async #work(): Promise<void> {
    // Senders are recovered in batches whose transactions are admitted in one tick: let them all get in.
    await new Promise(resolve => setImmediate(resolve))
    for (let batch = this.#next; batch !== undefined; batch = this.#next) {
      this.#next = undefined
      const startedMs = performance.now()
      try {
        const bytes = await this.#write(batch.raws)
        this.#options.onWritten?.({ transactions: batch.raws.length, bytes, durationMs: performance.now() - startedMs })
        batch.resolve()
      } catch (error) {
        this.#mustRewrite = true
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
    // What waits to be written is pooled already, or no longer needed.
    this.#sizeBytes = await storage.replace(fileOf(live()))
    this.#limitBytes = Math.max(limitBytes, 2 * this.#sizeBytes)
    this.#mustRewrite = false
    return this.#sizeBytes
  }
}

/** In pieces, so that a rewrite of thousands never holds the thread for long. */
function* fileOf(raws: Iterable<Uint8Array>): Generator<Uint8Array, void, undefined> {
  yield JOURNAL_MAGIC
  let chunk: Uint8Array[] = []
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
  // Whoever waits sees the rejection; a rewrite nobody waits for must not end the process.
  promise.catch(() => undefined)
  return { raws: [], written: promise, resolve, reject }
}
