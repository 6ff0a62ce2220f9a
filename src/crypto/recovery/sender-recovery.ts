import { availableParallelism } from 'node:os'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { RECOVERY_LIMITS, WORKER_LIMITS } from '../../config/limits/execution.ts'
import { CodedError } from '../../util/errors.ts'
import type { Logger } from '../../util/logger.ts'
import {
  packRequest,
  type RecoveryAnswer,
  type RecoveryRequest,
  type RecoveryWorkerData,
  type SenderResult,
  unpackAnswer,
} from './batch.ts'

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
  retried: boolean
}

interface Lane {
  readonly worker: Worker
  /** Port whose requests precede those of the worker itself. */
  readonly urgent: MessagePort
  readonly batches: Map<number, Batch>
  jobs: number
}

/**
 * Recovery of hashes and senders of raw transactions in worker threads. Transactions of one tick are sent in batches; results are in
 * request order for each caller, not across callers. A failed worker is replaced and its batches are tried once more.
 */
export class SenderRecovery {
  private readonly workers: number
  private readonly batch: number
  private readonly limits: Readonly<Record<RecoveryPriority, number>>
  private readonly logger: Logger | undefined
  private readonly workerUrl: URL
  private readonly lanes = new Set<Lane>()
  private readonly waiting: Record<RecoveryPriority, Job[]> = { blocks: [], singles: [] }
  private readonly open: Record<RecoveryPriority, number> = { blocks: 0, singles: 0 }
  private nextId = 0
  private flushPlanned = false
  private closed = false

  constructor(options: SenderRecoveryOptions = {}) {
    this.workers = options.workers ?? Math.max(1, availableParallelism() - 1)
    this.batch = options.batch ?? RECOVERY_LIMITS.batch
    this.limits = {
      singles: options.queue ?? RECOVERY_LIMITS.queue,
      blocks: options.blockQueue ?? RECOVERY_LIMITS.blockQueue,
    }
    this.logger = options.logger
    this.workerUrl = options.workerUrl ?? new URL('./worker.ts', import.meta.url)
  }

  /** Starts the threads now rather than with the first transaction. */
  start(): void {
    while (!this.closed && this.lanes.size < this.workers) this.addLane()
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
    const error = new CodedError<SenderRecoveryError>({ code: 'RECOVERY_CLOSED' })
    const lanes = [...this.lanes]
    this.lanes.clear()
    for (const lane of lanes) for (const batch of lane.batches.values()) this.finish(batch, error)
    for (const batch of this.takeWaiting()) this.finish(batch, error)
    await Promise.all(lanes.map(({ worker }) => worker.terminate()))
  }

  private refusal(kind: RecoveryPriority, count: number): CodedError<SenderRecoveryError> | undefined {
    if (this.closed) return new CodedError({ code: 'RECOVERY_CLOSED' })
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
      if (jobs.length > 0) batches.push({ kind, jobs, retried: false })
      this.waiting[kind] = []
    }
    return batches
  }

  /** Sends a batch to the thread with the least work. */
  private send(batch: Batch): void {
    this.start()
    let lane: Lane | undefined
    for (const candidate of this.lanes) if (lane === undefined || candidate.jobs < lane.jobs) lane = candidate
    if (lane === undefined) return
    const request: RecoveryRequest = { id: this.nextId++, buffer: packRequest(batch.jobs.map(job => job.raw)) }
    lane.batches.set(request.id, batch)
    lane.jobs += batch.jobs.length
    lane.worker.ref()
    const port = batch.kind === 'blocks' ? lane.urgent : lane.worker
    port.postMessage(request, [request.buffer])
  }

  private addLane(): void {
    const { port1: urgent, port2 } = new MessageChannel()
    const workerData: RecoveryWorkerData = { urgent: port2 }
    const worker = new Worker(this.workerUrl, {
      name: 'recovery',
      workerData,
      transferList: [port2],
      resourceLimits: { maxYoungGenerationSizeMb: WORKER_LIMITS.nurseryMegabytes },
    })
    const lane: Lane = { worker, urgent, batches: new Map(), jobs: 0 }
    let cause: unknown
    worker.on('message', (answer: RecoveryAnswer) => this.onAnswer(lane, answer))
    worker.on('error', error => {
      cause = error
    })
    worker.on('exit', code => this.onExit(lane, cause ?? new Error(`worker ended with code ${code}`)))
    worker.unref() // an idle pool keeps no process alive
    this.lanes.add(lane)
  }

  private onAnswer(lane: Lane, { id, buffer }: RecoveryAnswer): void {
    const batch = lane.batches.get(id)
    if (batch === undefined) return // closed meanwhile
    lane.batches.delete(id)
    lane.jobs -= batch.jobs.length
    if (lane.batches.size === 0) lane.worker.unref()
    this.open[batch.kind] -= batch.jobs.length
    for (const [at, { call, index }] of batch.jobs.entries()) {
      call.answers[index] = unpackAnswer(buffer, at)
      if (--call.missing === 0) call.resolve(call.answers)
    }
  }

  private onExit(lane: Lane, cause: unknown): void {
    if (!this.lanes.delete(lane)) return
    lane.urgent.close()
    const reason = cause instanceof Error ? cause.message : String(cause)
    this.logger?.warn({ reason, batches: lane.batches.size }, 'recovery worker died')
    for (const batch of lane.batches.values()) {
      if (batch.retried)
        this.finish(batch, new CodedError<SenderRecoveryError>({ code: 'RECOVERY_FAILED', reason }, { cause }))
      else {
        batch.retried = true
        this.send(batch)
      }
    }
  }

  private finish({ kind, jobs }: Batch, error: CodedError<SenderRecoveryError>): void {
    this.open[kind] -= jobs.length
    for (const { call } of jobs) call.reject(error)
  }
}
