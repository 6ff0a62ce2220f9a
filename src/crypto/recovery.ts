import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { LIMITS } from '../config/limits.ts'
import { CodedError } from '../util/errors.ts'
import type { Logger } from '../util/logger.ts'
import {
  packRequest,
  type RecoveryAnswer,
  type RecoveryRequest,
  type SenderResult,
  unpackAnswer,
} from './recovery-batch.ts'
import type { Sender } from './sender.ts'

export type RecoveryError =
  /** More transactions wait than the queue holds; the caller may try later. */
  | { readonly code: 'RECOVERY_QUEUE_FULL'; readonly limit: number }
  /** Two workers in a row died over the batch. */
  | { readonly code: 'RECOVERY_FAILED'; readonly reason: string }
  | { readonly code: 'RECOVERY_CLOSED' }

export interface SenderRecoveryOptions {
  /** Threads; one less than the cores by default, at least one. */
  readonly workers?: number
  /** Transactions per message. */
  readonly batch?: number
  /** Transactions waiting or under way. */
  readonly queue?: number
  readonly logger?: Logger
  /** The worker's file, for a bundle that places it elsewhere. */
  readonly workerUrl?: URL
}

type Answer = SenderResult | CodedError<RecoveryError>

interface Job {
  readonly raw: Uint8Array
  readonly done: (answer: Answer) => void
}

interface Batch {
  readonly jobs: readonly Job[]
  retried: boolean
}

interface Lane {
  readonly worker: Worker
  readonly batches: Map<number, Batch>
  jobs: number
}

/**
 * Hash and sender of raw transactions, recovered in worker threads. Transactions of one tick travel in batches; the order of answers
 * is that of the questions for each caller, not across callers. A worker that dies is replaced and its batches are tried once more.
 */
export class SenderRecovery {
  private readonly workers: number
  private readonly batch: number
  private readonly queue: number
  private readonly logger: Logger | undefined
  private readonly workerUrl: URL
  private readonly lanes = new Set<Lane>()
  private waiting: Job[] = []
  private open = 0
  private nextId = 0
  private flushPlanned = false
  private closed = false

  constructor(options: SenderRecoveryOptions = {}) {
    this.workers = options.workers ?? Math.max(1, availableParallelism() - 1)
    this.batch = options.batch ?? LIMITS.recovery.batch
    this.queue = options.queue ?? LIMITS.recovery.queue
    this.logger = options.logger
    this.workerUrl = options.workerUrl ?? new URL('./recovery-worker.ts', import.meta.url)
  }

  /** Starts the threads now rather than with the first transaction. */
  start(): void {
    while (!this.closed && this.lanes.size < this.workers) this.addLane()
  }

  /** Transactions waiting or under way. */
  get pending(): number {
    return this.open
  }

  /** Rejects with CodedError<SenderError | RecoveryError>. The bytes must not change until the answer comes. */
  recover(raw: Uint8Array): Promise<Sender> {
    const refused = this.refusal(1)
    if (refused !== undefined) return Promise.reject(refused)
    return new Promise((resolve, reject) => {
      this.add({ raw, done: answer => (answer instanceof CodedError ? reject(answer) : resolve(answer)) })
    })
  }

  /** Answers in the order given, a CodedError in the place of a transaction without a sender. Rejects when the queue has no room for all, or the workers fail. */
  recoverMany(raws: readonly Uint8Array[]): Promise<readonly SenderResult[]> {
    const refused = this.refusal(raws.length)
    if (refused !== undefined) return Promise.reject(refused)
    if (raws.length === 0) return Promise.resolve([])
    return new Promise((resolve, reject) => {
      const answers = new Array<SenderResult>(raws.length)
      let missing = raws.length
      for (const [i, raw] of raws.entries()) {
        const done = (answer: Answer): void => {
          if (isRecoveryError(answer)) reject(answer)
          else answers[i] = answer
          if (--missing === 0) resolve(answers)
        }
        this.add({ raw, done })
      }
    })
  }

  /** Ends the threads; what is under way is rejected with RECOVERY_CLOSED. */
  async close(): Promise<void> {
    if (this.closed) return
    this.closed = true
    const error = new CodedError<RecoveryError>({ code: 'RECOVERY_CLOSED' })
    const lanes = [...this.lanes]
    this.lanes.clear()
    for (const lane of lanes) for (const batch of lane.batches.values()) this.finish(batch.jobs, error)
    this.finish(this.waiting, error)
    this.waiting = []
    await Promise.all(lanes.map(({ worker }) => worker.terminate()))
  }

  private refusal(count: number): CodedError<RecoveryError> | undefined {
    if (this.closed) return new CodedError({ code: 'RECOVERY_CLOSED' })
    if (this.open + count > this.queue) return new CodedError({ code: 'RECOVERY_QUEUE_FULL', limit: this.queue })
    return undefined
  }

  private add(job: Job): void {
    this.open++
    this.waiting.push(job)
    if (this.waiting.length >= this.batch) this.flush()
    else if (!this.flushPlanned) {
      this.flushPlanned = true
      setImmediate(() => {
        this.flushPlanned = false
        this.flush()
      })
    }
  }

  private flush(): void {
    if (this.closed || this.waiting.length === 0) return
    const jobs = this.waiting
    this.waiting = []
    this.send({ jobs, retried: false })
  }

  /** To the thread with the least work. */
  private send(batch: Batch): void {
    this.start()
    let lane: Lane | undefined
    for (const candidate of this.lanes) if (lane === undefined || candidate.jobs < lane.jobs) lane = candidate
    if (lane === undefined) return
    const request: RecoveryRequest = { id: this.nextId++, buffer: packRequest(batch.jobs.map(job => job.raw)) }
    lane.batches.set(request.id, batch)
    lane.jobs += batch.jobs.length
    lane.worker.ref()
    lane.worker.postMessage(request, [request.buffer])
  }

  private addLane(): void {
    const worker = new Worker(this.workerUrl, {
      name: 'recovery',
      resourceLimits: { maxYoungGenerationSizeMb: LIMITS.workers.nurseryMegabytes },
    })
    const lane: Lane = { worker, batches: new Map(), jobs: 0 }
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
    this.open -= batch.jobs.length
    for (const [i, job] of batch.jobs.entries()) job.done(unpackAnswer(buffer, i))
  }

  private onExit(lane: Lane, cause: unknown): void {
    if (!this.lanes.delete(lane)) return
    const reason = cause instanceof Error ? cause.message : String(cause)
    this.logger?.warn({ reason, batches: lane.batches.size }, 'recovery worker died')
    for (const batch of lane.batches.values()) {
      if (batch.retried)
        this.finish(batch.jobs, new CodedError<RecoveryError>({ code: 'RECOVERY_FAILED', reason }, { cause }))
      else {
        batch.retried = true
        this.send(batch)
      }
    }
  }

  private finish(jobs: readonly Job[], error: CodedError<RecoveryError>): void {
    this.open -= jobs.length
    for (const job of jobs) job.done(error)
  }
}

const isRecoveryError = (answer: Answer): answer is CodedError<RecoveryError> =>
  answer instanceof CodedError && answer.detail.code !== 'INVALID_SENDER'
