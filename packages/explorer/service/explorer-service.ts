import type { Worker } from 'node:worker_threads'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { startThread } from '@tandem/base/own-files.ts'
import { endWorker } from '@tandem/base/worker/end-worker.ts'
import type { NodePort } from '../api/api-route.ts'
import { CLIENT_HEADER } from '../api/submissions.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import type { IndexerHealth } from './indexer-health.ts'
import {
  type ApiAnswer,
  type ApiCall,
  type ExplorerThreadStart,
  type FromExplorerThread,
  type NodeRequest,
  SIGNAL_HEAD,
  type ToApiThread,
} from './protocol.ts'
import { type QueuedRequest, RequestQueue, type RequestRefusal } from './request-queue.ts'

/** Thrown as CodedError when a request cannot be answered; the client may retry. */
type ExplorerUnavailable = RequestRefusal | { readonly code: 'EXPLORER_TIMEOUT' | 'EXPLORER_STOPPED' }

interface ExplorerOptions extends Omit<ExplorerThreadStart, 'signals'> {
  readonly node: NodePort
  readonly logger: Logger
}

type Request = Omit<ApiCall, 'id' | 'untilMs'>

interface Waiting extends QueuedRequest {
  readonly resolve: (answer: ApiAnswer) => void
  readonly reject: (error: Error) => void
  timer?: NodeJS.Timeout
  /** Time at which it is given up. */
  untilMs: number
}

const CLOSE_MS = 2_000

/** Owner of requests that no client sent. */
const NODE = ''

/**
 * The explorer as the node's main thread sees it: one thread that fills the index, one that answers requests. Both start when they are first
 * needed and again after a failure; the main thread only passes bytes on.
 */
export class ExplorerService {
  readonly #options: ExplorerOptions
  readonly #signals = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  readonly #counters = new Int32Array(this.#signals)
  readonly #waiting = new Map<number, Waiting>()
  readonly #queue = new RequestQueue()
  #indexer: Worker | undefined
  #indexOpened: Promise<void> | undefined
  #api: Promise<Worker> | undefined
  #nextId = 1
  #health: IndexerHealth = { state: 'starting', waitsFor: null, sinceMs: Date.now() }
  #isClosed = false

  constructor(options: ExplorerOptions) {
    this.#options = options
  }

  /** Begins to fill the index. Without it, the first request does. */
  start(): void {
    if (this.#indexOpened !== undefined) return
    this.#indexOpened = this.#startIndexer()
    // Those that wait for it get the error; there may be none.
    this.#indexOpened.catch(() => undefined)
  }

  /** State of the index. */
  get health(): IndexerHealth {
    return this.#health
  }

  /** A block was committed. */
  onHead(): void {
    Atomics.add(this.#counters, SIGNAL_HEAD, 1)
    Atomics.notify(this.#counters, SIGNAL_HEAD)
  }

  /** Throws CodedError<ExplorerUnavailable>. */
  request(request: Request): Promise<ApiAnswer> {
    if (this.#isClosed) return Promise.reject(unavailable('EXPLORER_STOPPED'))
    const id = this.#nextId++
    return new Promise<ApiAnswer>((resolve, reject) => {
      const waiting: Waiting = {
        client: request.headers[CLIENT_HEADER] ?? NODE,
        start: () => this.#post(id, request),
        refuse: error => this.#settle(id, () => reject(error)),
        ...{ resolve, reject, untilMs: 0 },
      }
      this.#waiting.set(id, waiting)
      this.#wait(id)
      this.#queue.add(waiting)
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const api = await this.#api?.catch(() => undefined)
    this.#failAll()
    await Promise.all([endThread(api), endThread(this.#indexer)])
  }

  /** The start of a thread does not count against the time limit of a request. */
  #wait(id: number): void {
    this.#api ??= this.#startApi().catch((error: unknown) => {
      this.#api = undefined
      throw error
    })
    this.#limit(id, EXPLORER_LIMITS.api.startMs)
    this.#api.then(
      () => this.#limit(id, EXPLORER_LIMITS.api.timeoutMs),
      () => this.#settle(id, ({ reject }) => reject(unavailable('EXPLORER_STOPPED'))),
    )
  }

  /** Passes a request on when its turn has come. */
  #post(id: number, request: Request): void {
    this.#api?.then(
      worker => {
        const waiting = this.#waiting.get(id)
        if (waiting === undefined) return
        const call = { id, untilMs: waiting.untilMs, ...request }
        worker.postMessage({ type: 'call', call } satisfies ToApiThread)
      },
      // The request is told of it already.
      () => undefined,
    )
  }

  /** Sets the time that a request has from now on. */
  #limit(id: number, milliseconds: number): void {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    clearTimeout(waiting.timer)
    waiting.untilMs = Date.now() + milliseconds
    waiting.timer = setTimeout(() => {
      this.#settle(id, ({ reject }) => reject(unavailable('EXPLORER_TIMEOUT')))
    }, milliseconds).unref()
  }

  #settle(id: number, use: (waiting: Waiting) => void): void {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    this.#waiting.delete(id)
    clearTimeout(waiting.timer)
    use(waiting)
    this.#queue.leave(waiting)
  }

  #failAll(): void {
    this.#queue.clear()
    for (const id of [...this.#waiting.keys()])
      this.#settle(id, ({ reject }) => reject(unavailable('EXPLORER_STOPPED')))
  }

  /** Settled when the index is open, so that another connection can read it. */
  #startIndexer(): Promise<void> {
    const worker = this.#startWorker('indexer', new URL('./indexer-thread.ts', import.meta.url))
    this.#indexer = worker
    return new Promise((resolve, reject) => {
      worker.on('message', (message: FromExplorerThread) => {
        if (message.type === 'opened') resolve()
        else if (message.type === 'health') this.#health = message.health
      })
      worker.on('exit', () => {
        this.#health = { state: 'failing', waitsFor: null, sinceMs: Date.now() }
        reject(unavailable('EXPLORER_STOPPED'))
        this.#indexer = undefined
        this.#restart(() => {
          this.#indexOpened = undefined
          this.start()
        })
      })
    })
  }

  async #startApi(): Promise<Worker> {
    this.start()
    await this.#indexOpened
    const worker = this.#startWorker('explorer', new URL('./api-thread.ts', import.meta.url))
    worker.on('message', (message: FromExplorerThread) => {
      if (message.type === 'answer') this.#settle(message.answer.id, ({ resolve }) => resolve(message.answer))
      else if (message.type === 'ask') void this.#answer(worker, message.question)
    })
    return new Promise((resolve, reject) => {
      worker.on('message', ({ type }: FromExplorerThread) => type === 'opened' && resolve(worker))
      worker.on('exit', () => {
        this.#api = undefined
        reject(unavailable('EXPLORER_STOPPED'))
        this.#failAll()
      })
    })
  }

  #startWorker(name: string, script: URL): Worker {
    const { node, logger, ...start } = this.#options
    const workerData: ExplorerThreadStart = { ...start, signals: this.#signals }
    const worker = startThread(script, {
      name,
      workerData,
      resourceLimits: {
        maxYoungGenerationSizeMb: EXPLORER_LIMITS.nurseryMegabytes,
        maxOldGenerationSizeMb: EXPLORER_LIMITS.threadMegabytes,
      },
    })
    worker.unref()
    worker.on('error', error => {
      logger.error(
        { thread: name, err: error instanceof Error ? (error.stack ?? error.message) : String(error) },
        'a thread of the explorer failed',
      )
    })
    worker.on('message', (message: FromExplorerThread) => {
      if (message.type === 'log') logger[message.level](message.fields, message.message)
    })
    return worker
  }

  #restart(begin: () => void): void {
    if (this.#isClosed) return
    setTimeout(() => !this.#isClosed && begin(), EXPLORER_LIMITS.api.restartMs).unref()
  }

  async #answer(worker: Worker, { id, name, args }: NodeRequest): Promise<void> {
    const { node } = this.#options
    try {
      const value = await (node[name] as (...args: readonly unknown[]) => Promise<unknown>)(...args)
      worker.postMessage({ type: 'answered', id, value } satisfies ToApiThread)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const detail = isCoded(error) ? error.detail : undefined
      worker.postMessage({ type: 'refused', id, message, detail } satisfies ToApiThread)
    }
  }
}

const unavailable = (code: 'EXPLORER_TIMEOUT' | 'EXPLORER_STOPPED'): CodedError<ExplorerUnavailable> =>
  new CodedError({ code })

/** Ends a thread when its transaction is done. One that takes too long is terminated; its transaction is then rolled back. */
const endThread = async (worker: Worker | undefined): Promise<void> => {
  if (worker !== undefined) await endWorker(worker, CLOSE_MS)
}
