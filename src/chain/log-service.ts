import { Worker } from 'node:worker_threads'
import { LIMITS } from '../config/limits.ts'
import { CodedError } from '../util/errors.ts'
import { requireHistory } from './earliest.ts'
import type { LogEntry, LogQuery } from './types.ts'

export interface LogJob {
  readonly id: number
  readonly query: LogQuery
  readonly as: 'entries' | 'text'
}
/** What a worker is sent. */
export type LogWork = LogJob | 'forget'
export type LogAnswer =
  | { readonly id: number; readonly value: readonly LogEntry[] | string }
  | { readonly id: number; readonly error: { readonly code: string } }
  | { readonly id: number; readonly fault: string }

type Waiting = { readonly resolve: (value: LogEntry[] & string) => void; readonly reject: (error: Error) => void }

export interface LogServiceOptions {
  readonly storePath: string
  /** A script that calls `serveLogQueries`. */
  readonly workerUrl: URL
  /** The first block that is there (earliest.ts); 0 when left out. */
  readonly earliest?: () => number
  /** Told of each worker started. */
  readonly onWorker?: (worker: Worker) => void
}

/** Log queries over many blocks, in a worker thread that reads the store itself. Started by the first query. */
export class LogService {
  readonly #options: LogServiceOptions
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #nextId = 1

  constructor(options: LogServiceOptions) {
    this.#options = options
  }

  query(query: LogQuery): Promise<readonly LogEntry[]> {
    return this.#ask(query, 'entries')
  }

  /** The answer as the worker's script renders it. */
  text(query: LogQuery): Promise<string> {
    return this.#ask(query, 'text')
  }

  async #ask(query: LogQuery, as: LogJob['as']): Promise<LogEntry[] & string> {
    requireHistory(this.#options.earliest?.() ?? 0, query.fromBlock, query.toBlock)
    if (this.#waiting.size >= LIMITS.chain.logQueries) {
      throw new CodedError({ code: 'QUERY_QUEUE_FULL', limit: LIMITS.chain.logQueries })
    }
    const id = this.#nextId++
    this.#worker ??= this.#start()
    const worker = this.#worker
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      worker.postMessage({ id, query, as } satisfies LogJob)
    })
  }

  /** Blocks were taken back (development chains): the worker must not answer from what it has read. */
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
      resourceLimits: { maxYoungGenerationSizeMb: LIMITS.workers.nurseryMegabytes },
    })
    worker.on('message', (answer: LogAnswer) => this.#answer(answer))
    worker.on('error', (error: Error) => this.#ended(worker, error))
    worker.on('exit', () => this.#ended(worker, new Error('the log query worker ended')))
    worker.unref()
    this.#options.onWorker?.(worker)
    return worker
  }

  #answer(answer: LogAnswer): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if ('value' in answer) waiting?.resolve(answer.value as LogEntry[] & string)
    else waiting?.reject('error' in answer ? new CodedError(answer.error) : new Error(answer.fault))
  }

  /** The next query starts another worker, perhaps before this one, which has told its error, is told to be over. */
  #ended(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}
