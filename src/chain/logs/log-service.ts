import { Worker } from 'node:worker_threads'
import { CHAIN_LIMITS } from '../../config/limits/chain.ts'
import { WORKER_LIMITS } from '../../config/limits/execution.ts'
import { type Cancellation, Cancelled } from '../../util/async/cancellation.ts'
import { FairQueue } from '../../util/async/fair-queue.ts'
import { CodedError } from '../../util/errors.ts'
import { requireHistory } from '../store/earliest-block.ts'
import type { ChainReadError, LogEntry, LogQuery } from '../types.ts'

export interface LogJob {
  readonly id: number
  readonly query: LogQuery
  readonly as: 'entries' | 'text'
}
/** Message to a log worker. */
export type LogWork = LogJob | 'forget' | { readonly cancel: number }
export type LogAnswer =
  | { readonly id: number; readonly value: readonly LogEntry[] | LogText }
  | { readonly id: number; readonly error: { readonly code: string } }
  | { readonly id: number; readonly fault: string }

/** JSON list in pieces of ASCII. */
export type LogText = readonly Uint8Array[]

type Found = LogEntry[] & LogText

interface Waiting {
  readonly job: LogJob
  readonly client: string
  readonly resolve: (value: Found) => void
  readonly reject: (error: Error) => void
}

interface LogServiceOptions {
  readonly storePath: string
  /** Script that calls `serveLogQueries`. */
  readonly workerUrl: URL
  /** Returns the first stored block (store/earliest-block.ts); 0 by default. */
  readonly earliest?: () => number
  /** Called for each worker started. */
  readonly onWorker?: (worker: Worker) => void
}

/**
 * Log queries over many blocks, in a worker thread that opens the store itself. The first query starts it. A few queries run at a time,
 * since each holds its results in memory; clients are served in rotation.
 */
export class LogService {
  readonly #options: LogServiceOptions
  readonly #queue = new FairQueue<Waiting>()
  #queued = 0
  readonly #running = new Map<number, Waiting>()
  readonly #runningOf = new Map<string, number>()
  #worker: Worker | undefined
  #nextId = 1

  constructor(options: LogServiceOptions) {
    this.#options = options
  }

  /** Number of waiting and running queries. */
  get size(): number {
    return this.#queued + this.#running.size
  }

  query(query: LogQuery, client = ''): Promise<readonly LogEntry[]> {
    return this.#ask(query, 'entries', client)
  }

  /** Returns the result as rendered by the worker's script. */
  text(query: LogQuery, client = '', cancellation?: Cancellation): Promise<LogText> {
    return this.#ask(query, 'text', client, cancellation)
  }

  async #ask(query: LogQuery, as: LogJob['as'], client: string, cancellation?: Cancellation): Promise<Found> {
    const { logQueries, clientLogQueries } = CHAIN_LIMITS
    requireHistory(this.#options.earliest?.() ?? 0, query.fromBlock, query.toBlock)
    if (this.#queue.lengthOf(client) >= clientLogQueries)
      throw new CodedError<ChainReadError>({ code: 'QUERY_CLIENT_FULL', limit: clientLogQueries })
    if (this.#queued >= logQueries)
      throw new CodedError<ChainReadError>({ code: 'QUERY_QUEUE_FULL', limit: logQueries })
    const job: LogJob = { id: this.#nextId++, query, as }
    const waiting = Promise.withResolvers<Found>()
    const item: Waiting = { job, client, resolve: waiting.resolve, reject: waiting.reject }
    this.#queue.push(client, item)
    this.#queued++
    this.#dispatch()
    const forget = cancellation?.onCancel(() => this.#cancel(item))
    return waiting.promise.finally(forget)
  }

  /** A running query keeps its slot until the worker has ended it. */
  #cancel(item: Waiting): void {
    if (this.#queue.remove(item.client, item)) this.#queued--
    else if (this.#running.has(item.job.id)) this.#worker?.postMessage({ cancel: item.job.id } satisfies LogWork)
    item.reject(new Cancelled())
  }

  #dispatch(): void {
    const { logsInFlight, clientLogsInFlight } = CHAIN_LIMITS
    while (this.#running.size < logsInFlight) {
      const next = this.#queue.shift(client => (this.#runningOf.get(client) ?? 0) < clientLogsInFlight)
      if (next === undefined) return
      const { job, client } = next.item
      this.#queued--
      this.#running.set(job.id, next.item)
      this.#runningOf.set(client, (this.#runningOf.get(client) ?? 0) + 1)
      this.#worker ??= this.#start()
      this.#worker.postMessage(job)
    }
  }

  /** Called after blocks were reverted (development chains): clears the worker's caches. */
  forget(): void {
    this.#worker?.postMessage('forget' satisfies LogWork)
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(this.#options.workerUrl, {
      name: 'logs',
      workerData: { storePath: this.#options.storePath },
      resourceLimits: { maxYoungGenerationSizeMb: WORKER_LIMITS.nurseryMegabytes },
    })
    worker.on('message', (answer: LogAnswer) => this.#answer(answer))
    worker.on('error', (error: Error) => this.#ended(worker, error))
    worker.on('exit', () => this.#ended(worker, new Error('the log query worker ended')))
    worker.unref()
    this.#options.onWorker?.(worker)
    return worker
  }

  #answer(answer: LogAnswer): void {
    const waiting = this.#running.get(answer.id)
    if (waiting === undefined) return
    this.#running.delete(answer.id)
    const left = (this.#runningOf.get(waiting.client) ?? 1) - 1
    if (left === 0) this.#runningOf.delete(waiting.client)
    else this.#runningOf.set(waiting.client, left)
    if ('value' in answer) waiting.resolve(answer.value as Found)
    else waiting.reject('error' in answer ? new CodedError(answer.error) : new Error(answer.fault))
    this.#dispatch()
  }

  /** The next query starts a new worker, possibly between this worker's error and its exit event. */
  #ended(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    const lost = [...this.#running.values(), ...this.#queue.takeAll()]
    this.#running.clear()
    this.#runningOf.clear()
    this.#queued = 0
    for (const { reject } of lost) reject(error)
  }
}
