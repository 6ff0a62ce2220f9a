import { availableParallelism } from 'node:os'
import { RECOVERY_LIMITS, WORKER_LIMITS } from '../../config/limits/execution.ts'
import { CodedError } from '../../util/errors.ts'
import type { Logger } from '../../util/logger.ts'
import { WorkerPool } from '../../util/worker/worker-pool.ts'
import { packRequest, type RecoveryMethods, type SenderResult, unpackAnswer } from './batch.ts'

export type SenderRecoveryError =
  /** The queue is full; the caller may try later. */
  | { readonly code: 'RECOVERY_QUEUE_FULL'; readonly limit: number }
  /** Two workers in a row failed on the batch. */
  | { readonly code: 'RECOVERY_FAILED'; readonly reason: string }
  | { readonly code: 'RECOVERY_CLOSED' }

export interface SenderRecoveryOptions {
  /** Number of threads; one less than the cores by default, at least one. */
  readonly workers?: number
  /** Transactions per message. */
  readonly batch?: number
  /** Limits of waiting and running transactions: single ones, and those of blocks. */
  readonly queue?: number
  readonly blockQueue?: number
  readonly logger?: Logger
  /** The worker's file, for a bundle with another layout. */
  readonly workerUrl?: URL
}

/** A late block delays a whole committee, a late transaction only its sender: blocks go first, and each kind has its own limit. */
export type RecoveryPriority = 'blocks' | 'singles'

/** Request of a caller, for one or many transactions. */
interface Call {
  readonly answers: SenderResult[]
  missing: number
  readonly resolve: (answers: readonly SenderResult[]) => void
  readonly reject: (error: CodedError<SenderRecoveryError>) => void
}

interface Job {
  readonly raw: Uint8Array
  readonly call: Call
  readonly index: number
}

interface Batch {
  readonly kind: RecoveryPriority
  readonly jobs: readonly Job[]
}

/**
 * Recovery of hashes and senders of raw transactions in worker threads. Transactions of one tick are sent in batches; results are in
 * request order for each caller, not across callers. A failed worker is replaced and its batches are tried once more.
 */
export class SenderRecovery {
  private readonly batch: number
  private readonly limits: Readonly<Record<RecoveryPriority, number>>
  private readonly pool: WorkerPool<RecoveryMethods>
  private readonly waiting: Record<RecoveryPriority, Job[]> = { blocks: [], singles: [] }
  private readonly open: Record<RecoveryPriority, number> = { blocks: 0, singles: 0 }
  private flushPlanned = false
  private closed = false

  constructor(options: SenderRecoveryOptions = {}) {
    this.batch = options.batch ?? RECOVERY_LIMITS.batch
    this.limits = {
      singles: options.queue ?? RECOVERY_LIMITS.queue,
      blocks: options.blockQueue ?? RECOVERY_LIMITS.blockQueue,
    }
    this.pool = new WorkerPool({
      name: 'recovery',
      url: options.workerUrl ?? new URL('./worker.ts', import.meta.url),
      limits: { maxYoungGenerationSizeMb: WORKER_LIMITS.nurseryMegabytes },
      hasUrgent: true,
      size: options.workers ?? Math.max(1, availableParallelism() - 1),
      retries: 1,
      onEnd: (error, batches) => options.logger?.warn({ reason: error.message, batches }, 'recovery worker died'),
    })
  }

  /** Starts the threads now rather than with the first transaction. */
  start(): void {
    this.pool.start()
  }

  /** Number of waiting and running transactions. */
  get pending(): number {
    return this.open.blocks + this.open.singles
  }

  /**
   * Returns results in order, with a CodedError for a transaction without a sender. Rejects with CodedError<SenderRecoveryError>
   * when the queue has no room for all, or the workers fail. The bytes must not change until the result arrives.
   */
  recoverMany(raws: readonly Uint8Array[], kind: RecoveryPriority = 'blocks'): Promise<readonly SenderResult[]> {
    const refused = this.refusal(kind, raws.length)
    if (refused !== undefined) return Promise.reject(refused)
    if (raws.length === 0) return Promise.resolve([])
    return new Promise((resolve, reject) => {
      const call: Call = { answers: new Array(raws.length), missing: raws.length, resolve, reject }
      for (const [index, raw] of raws.entries()) this.add(kind, { raw, call, index })
    })
  }

  /** Ends the threads; requests under way are rejected with RECOVERY_CLOSED. */
  async close(): Promise<void> {
    if (this.closed) return
    this.closed = true
    for (const batch of this.takeWaiting()) this.finish(batch, closedError())
    await this.pool.close()
  }

  private refusal(kind: RecoveryPriority, count: number): CodedError<SenderRecoveryError> | undefined {
    if (this.closed) return closedError()
    const limit = this.limits[kind]
    return this.open[kind] + count > limit ? new CodedError({ code: 'RECOVERY_QUEUE_FULL', limit }) : undefined
  }

  private add(kind: RecoveryPriority, job: Job): void {
    this.open[kind]++
    const waiting = this.waiting[kind]
    waiting.push(job)
    if (waiting.length >= this.batch) this.flush()
    else if (!this.flushPlanned) {
      this.flushPlanned = true
      setImmediate(() => {
        this.flushPlanned = false
        this.flush()
      })
    }
  }

  private flush(): void {
    if (this.closed) return
    for (const batch of this.takeWaiting()) this.send(batch)
  }

  private takeWaiting(): readonly Batch[] {
    const batches: Batch[] = []
    for (const kind of ['blocks', 'singles'] as const) {
      const jobs = this.waiting[kind]
      if (jobs.length > 0) batches.push({ kind, jobs })
      this.waiting[kind] = []
    }
    return batches
  }

  /** Sends a batch to the thread with the least work. */
  private send(batch: Batch): void {
    this.pool.start()
    this.pool
      .run({
        name: 'recover',
        args: () => [packRequest(batch.jobs.map(job => job.raw))],
        transfer: args => args,
        isUrgent: batch.kind === 'blocks',
        weight: batch.jobs.length,
      })
      .then(
        answer => this.answer(batch, answer),
        (cause: Error) => {
          const detail = { code: 'RECOVERY_FAILED', reason: cause.message } as const
          this.finish(batch, this.closed ? closedError() : new CodedError<SenderRecoveryError>(detail, { cause }))
        },
      )
  }

  private answer({ kind, jobs }: Batch, answer: ArrayBuffer): void {
    this.open[kind] -= jobs.length
    for (const [at, { call, index }] of jobs.entries()) {
      call.answers[index] = unpackAnswer(answer, at)
      if (--call.missing === 0) call.resolve(call.answers)
    }
  }

  private finish({ kind, jobs }: Batch, error: CodedError<SenderRecoveryError>): void {
    this.open[kind] -= jobs.length
    for (const { call } of jobs) call.reject(error)
  }
}

const closedError = () => new CodedError<SenderRecoveryError>({ code: 'RECOVERY_CLOSED' })
