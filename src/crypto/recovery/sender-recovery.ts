import { availableParallelism } from 'node:os'
import { CodedError } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { WorkerPool } from '@tandem/base/worker/worker-pool.ts'
import { RECOVERY_LIMITS, WORKER_LIMITS } from '../../config/limits/execution.ts'
import { packRequest, type RecoveryMethods, recoverRequest, type SenderResult, unpackAnswer } from './batch.ts'

export type SenderRecoveryError =
  /** The queue is full; the caller may try later. */
  | { readonly code: 'RECOVERY_QUEUE_FULL'; readonly limit: number }
  /** Two workers in a row failed on the batch. */
  | { readonly code: 'RECOVERY_FAILED'; readonly reason: string }
  | { readonly code: 'RECOVERY_CLOSED' }

export interface SenderRecoveryOptions {
  /** Number of threads at most; by default two, or one less than the cores. Each starts when the others are busy. */
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

/** On two cores too: the main thread waits for the senders of full blocks in block sync, and leaves its core to them. */
const LEAST_THREADS = 2

/** A late block delays a whole committee, a late transaction only its sender: blocks go first, and each kind has its own limit. */
export type RecoveryPriority = 'blocks' | 'singles'

/**
 * Recovery of hashes and senders of raw transactions in worker threads. Callers collect transactions that come one by one, since a message
 * costs more than a recovery; results are in request order for each caller, not across callers. A failed worker is replaced and its batches
 * are tried once more.
 */
export class SenderRecovery {
  private readonly batch: number
  private readonly threads: number
  private readonly limits: Readonly<Record<RecoveryPriority, number>>
  private readonly pool: WorkerPool<RecoveryMethods>
  private readonly open: Record<RecoveryPriority, number> = { blocks: 0, singles: 0 }
  private closed = false
  /** When a transaction was recovered on this thread, performance.now() milliseconds. */
  private recoveredHereMs = Number.NEGATIVE_INFINITY

  constructor(options: SenderRecoveryOptions = {}) {
    this.batch = options.batch ?? RECOVERY_LIMITS.batch
    this.limits = {
      singles: options.queue ?? RECOVERY_LIMITS.queue,
      blocks: options.blockQueue ?? RECOVERY_LIMITS.blockQueue,
    }
    this.threads = options.workers ?? Math.max(LEAST_THREADS, availableParallelism() - 1)
    this.pool = new WorkerPool({
      name: 'recovery',
      url: options.workerUrl ?? new URL('./worker.ts', import.meta.url),
      limits: { maxYoungGenerationSizeMb: WORKER_LIMITS.nurseryMegabytes },
      hasUrgent: true,
      size: this.threads,
      retries: 1,
      onEnd: (error, batches) => options.logger?.warn({ reason: error.message, batches }, 'recovery worker died'),
    })
  }

  /** Starts a thread now rather than with the first transaction. */
  start(): void {
    this.pool.start(1)
  }

  /** Number of waiting and running transactions. */
  get pending(): number {
    return this.open.blocks + this.open.singles
  }

  /** Returns results in order, CodedErrors without a sender. Rejects with CodedError<SenderRecoveryError>. The bytes must not change. */
  async recoverMany(raws: readonly Uint8Array[], kind: RecoveryPriority = 'blocks'): Promise<readonly SenderResult[]> {
    const refused = this.refusal(kind, raws.length)
    if (refused !== undefined) throw refused
    if (this.isQuick(raws, kind)) return [unpackAnswer(recoverRequest(packRequest(raws)), 0)]
    if (raws.length <= this.batch) return raws.length === 0 ? [] : this.recover(raws, kind)
    const batches: Promise<readonly SenderResult[]>[] = []
    const size = kind === 'blocks' ? this.blockBatch(raws.length) : this.batch
    for (let at = 0; at < raws.length; at += size) batches.push(this.recover(raws.slice(at, at + size), kind))
    return (await Promise.all(batches)).flat()
  }

  /** Ends the threads; requests under way are rejected with RECOVERY_CLOSED. */
  async close(): Promise<void> {
    if (this.closed) return
    this.closed = true
    await this.pool.close()
  }

  /** A message to a thread that sleeps costs more than one recovery: takes a lone short transaction, as long as they come seldom. */
  private isQuick(raws: readonly Uint8Array[], kind: RecoveryPriority): boolean {
    const { everyMs, bytes } = RECOVERY_LIMITS.here
    if (kind === 'blocks' || raws.length !== 1 || (raws[0]?.byteLength ?? 0) > bytes || this.pending > 0) return false
    const nowMs = performance.now()
    if (nowMs - this.recoveredHereMs < everyMs) return false
    this.recoveredHereMs = nowMs
    return true
  }

  /** Fewer messages for a long block, as long as each thread has two of them. */
  private blockBatch(count: number): number {
    return Math.max(this.batch, Math.min(RECOVERY_LIMITS.blockBatch, Math.ceil(count / (2 * this.threads))))
  }

  private refusal(kind: RecoveryPriority, count: number): CodedError<SenderRecoveryError> | undefined {
    if (this.closed) return closedError()
    const limit = this.limits[kind]
    return this.open[kind] + count > limit ? new CodedError({ code: 'RECOVERY_QUEUE_FULL', limit }) : undefined
  }

  /** Sends a batch to the thread with the least work. */
  private async recover(raws: readonly Uint8Array[], kind: RecoveryPriority): Promise<readonly SenderResult[]> {
    this.open[kind] += raws.length
    try {
      const answer = await this.pool.run({
        name: 'recover',
        args: () => [packRequest(raws)],
        transfer: args => args,
        isUrgent: kind === 'blocks',
        weight: raws.length,
      })
      return raws.map((_, at) => unpackAnswer(answer, at))
    } catch (cause) {
      if (this.closed) throw closedError()
      const detail = { code: 'RECOVERY_FAILED', reason: (cause as Error).message } as const
      throw new CodedError<SenderRecoveryError>(detail, { cause })
    } finally {
      this.open[kind] -= raws.length
    }
  }
}

const closedError = () => new CodedError<SenderRecoveryError>({ code: 'RECOVERY_CLOSED' })
