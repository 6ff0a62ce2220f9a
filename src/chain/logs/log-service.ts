import type { Worker } from 'node:worker_threads'
import { type Cancellation, Cancelled } from '@tandem/base/async/cancellation.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import { WorkerPool } from '@tandem/base/worker/worker-pool.ts'
import { CHAIN_LIMITS } from '../../config/limits/chain.ts'
import { memoryShares } from '../../config/limits/storage.ts'
import type { Store, StoreHandle } from '../../storage/store.ts'
import { requireHistory } from '../store/earliest-block.ts'
import type { ChainReadError, LogEntry, LogQuery } from '../store/types.ts'
import type { LogJob } from './log-jobs.ts'

/** JSON list in pieces of ASCII. */
export type LogText = readonly Uint8Array[]

/** Methods of the log worker. */
export type LogMethods = {
  readonly entries: (query: LogQuery) => readonly LogEntry[]
  /** Sends the pieces of the result as chunks. */
  readonly text: (query: LogQuery) => void
  readonly forget: () => void
  /** Carries out a step of the index, until `stop`. */
  readonly index: (job: LogJob) => number
  readonly stop: () => void
}

/** Start parameters of the log worker. */
export interface LogWorkerData {
  readonly store: StoreHandle
  readonly cacheBytes: number
}

interface LogServiceOptions {
  readonly store: Pick<Store, 'share' | 'writerEnded'>
  /** Memory of the blocks that queries read, bytes; of the default memory when omitted. */
  readonly cacheBytes?: number
  /** Script that calls `serveLogQueries`. */
  readonly workerUrl: URL
  /** Returns the first stored block (store/earliest-block.ts); 0 by default. */
  readonly earliest?: () => number
  /** Called for each worker started. */
  readonly onWorker?: (worker: Worker) => void
}

const { logQueries, clientLogQueries, logsInFlight, clientLogsInFlight } = CHAIN_LIMITS

/** Log queries over many blocks, in a worker thread that the first starts: a few at a time, clients in rotation. */
export class LogService {
  readonly #options: LogServiceOptions
  readonly #pool: WorkerPool<LogMethods>

  constructor(options: LogServiceOptions) {
    this.#options = options
    const { store, cacheBytes = memoryShares().logs } = options
    this.#pool = new WorkerPool({
      name: 'logs',
      url: options.workerUrl,
      data: (): LogWorkerData => ({ store: store.share(), cacheBytes }),
      onEnd: () => store.writerEnded(),
      hasStore: true,
      limits: { maxYoungGenerationSizeMb: CHAIN_LIMITS.logNurseryMegabytes },
      inFlight: logsInFlight,
      clientInFlight: clientLogsInFlight,
      queue: logQueries,
      clientQueue: clientLogQueries,
      ...(options.onWorker && { onThread: options.onWorker }),
    })
  }

  /** Number of waiting and running queries. */
  get size(): number {
    return this.#pool.size
  }

  query(query: LogQuery, client = ''): Promise<readonly LogEntry[]> {
    return this.#answer(query, () => this.#pool.run({ name: 'entries', args: () => [query], client }))
  }

  /** Returns the result as the worker's script renders it. `charge` gets the bytes of the result so far; what it throws ends the query. */
  text(
    query: LogQuery,
    client = '',
    cancellation?: Cancellation,
    charge: (bytes: number) => void = () => {},
  ): Promise<LogText> {
    return this.#answer(query, () => this.#collect(query, client, cancellation, charge))
  }

  /** Carries out a step of the index (LogIndexer), until `stopIndex`. */
  index(job: LogJob): Promise<number> {
    return this.#pool.run({ name: 'index', args: () => [job], client: 'log index' })
  }

  stopIndex(): void {
    this.#pool.callEach('stop')
  }

  async #collect(
    query: LogQuery,
    client: string,
    cancellation: Cancellation | undefined,
    charge: (bytes: number) => void,
  ): Promise<LogText> {
    const stream = this.#pool.stream<'text', Uint8Array>({ name: 'text', args: () => [query], client }, error => error)
    const forget = cancellation?.onCancel(() => stream.cancel())
    try {
      const pieces: Uint8Array[] = []
      let bytes = 0
      for (let piece = await stream.next(); piece !== undefined; piece = await stream.next()) {
        bytes += piece.byteLength
        charge(bytes)
        pieces.push(piece)
      }
      if (cancellation?.isCancelled === true) throw new Cancelled()
      return pieces
    } finally {
      forget?.()
      stream.cancel()
    }
  }

  async #answer<T>(query: LogQuery, run: () => Promise<T>): Promise<T> {
    const check = (): void => requireHistory(this.#options.earliest?.() ?? 0, query.fromBlock, query.toBlock)
    check()
    try {
      const answer = await run()
      // Blocks that were dropped meanwhile have no logs.
      check()
      return answer
    } catch (error) {
      throw isCoded(error) ? refusalFrom(error) : error
    }
  }

  /** Called after blocks were reverted (development chains): clears the worker's caches. */
  forget(): void {
    this.#pool.callEach('forget')
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

const refusalFrom = (error: CodedError): CodedError => {
  if (error.code === 'WORKER_CLIENT_FULL')
    return new CodedError<ChainReadError>({ code: 'QUERY_CLIENT_FULL', limit: clientLogQueries })
  if (error.code === 'WORKER_QUEUE_FULL')
    return new CodedError<ChainReadError>({ code: 'QUERY_QUEUE_FULL', limit: logQueries })
  return error
}
