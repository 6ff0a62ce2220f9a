import type { Worker } from 'node:worker_threads'
import { Cancellation } from '@tandem/base/async/cancellation.ts'
import { FairSemaphore, type Release } from '@tandem/base/async/fair-semaphore.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { startThread } from '@tandem/base/own-files.ts'
import { endWorker } from '@tandem/base/worker/end-worker.ts'
import { CLIENT_HEADER } from '../api/submissions.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import type { IndexerHealth } from './indexer-health.ts'
import {
  type ApiAnswer,
  type ApiCall,
  type ExplorerThreadStart,
  type FromExplorerThread,
  SIGNAL_HEAD,
  type ToApiThread,
} from './protocol.ts'

/** Thrown as CodedError when a request cannot be answered; the client may retry. */
type ExplorerUnavailable =
  /** Requests of all clients wait already. */
  | { readonly code: 'EXPLORER_BUSY' }
  /** So many of this client wait already. */
  | { readonly code: 'CLIENT_BUSY'; readonly limit: number }
  | { readonly code: 'EXPLORER_TIMEOUT' | 'EXPLORER_STOPPED' }

type Request = Omit<ApiCall, 'id' | 'untilMs'>

interface Waiting {
  readonly resolve: (answer: ApiAnswer) => void
  readonly reject: (error: Error) => void
  /** Gives up its place in the queue. */
  readonly cancellation: Cancellation
  /** Gives up its place among those that are worked at. */
  release?: Release
  timer?: NodeJS.Timeout
  /** Time at which it is given up. */
  untilMs: number
}

const { running, waiting: queued } = EXPLORER_LIMITS.api

const CLOSE_MS = 2_000

/** Owner of requests that no client sent. */
const NODE = ''

/**
 * The explorer as the node's main thread sees it: one thread that fills the index, one that answers requests. Both start when they are first
 * needed and again after a failure; the main thread only passes bytes on.
 */
export class ExplorerService {
  readonly #start: Omit<ExplorerThreadStart, 'signals'>
  readonly #logger: Logger
  readonly #signals = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  readonly #counters = new Int32Array(this.#signals)
  readonly #waiting = new Map<number, Waiting>()
  /** Requests that are worked at, a few of each client; clients take turns. */
  readonly #places = new FairSemaphore(
    { ...running, queue: queued.total, clientQueue: queued.client, displaces: true },
    full => unavailable(full === 'total' ? { code: 'EXPLORER_BUSY' } : { code: 'CLIENT_BUSY', limit: queued.client }),
  )
  #indexer: Worker | undefined
  #indexOpened: Promise<void> | undefined
  #api: Promise<Worker> | undefined
  #nextId = 1
  #health: IndexerHealth = { state: 'starting', waitsFor: null, sinceMs: Date.now() }
  #isClosed = false

  constructor(start: Omit<ExplorerThreadStart, 'signals'>, logger: Logger) {
    this.#start = start
    this.#logger = logger
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
    if (this.#isClosed) return Promise.reject(unavailable({ code: 'EXPLORER_STOPPED' }))
    const id = this.#nextId++
    return new Promise<ApiAnswer>((resolve, reject) => {
      const cancellation = new Cancellation()
      this.#waiting.set(id, { resolve, reject, cancellation, untilMs: 0 })
      this.#wait(id)
      this.#places.acquire(request.headers[CLIENT_HEADER] ?? NODE, {}, cancellation).then(
        release => this.#post(id, request, release),
        (error: Error) => this.#fail(id, error),
      )
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
      () => this.#fail(id, unavailable({ code: 'EXPLORER_STOPPED' })),
    )
  }

  /** Passes a request on when its turn has come. */
  #post(id: number, request: Request, release: Release): void {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) {
      release()
      return
    }
    waiting.release = release
    this.#api?.then(
      worker => {
        if (this.#waiting.has(id))
          worker.postMessage({ id, untilMs: waiting.untilMs, ...request } satisfies ToApiThread)
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
    waiting.timer = setTimeout(() => this.#fail(id, unavailable({ code: 'EXPLORER_TIMEOUT' })), milliseconds).unref()
  }

  /** Takes a request that has its outcome off the list, and gives up its place; undefined: it had one before. */
  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    clearTimeout(waiting?.timer)
    waiting?.cancellation.cancel()
    waiting?.release?.()
    return waiting
  }

  #fail(id: number, error: Error): void {
    this.#settle(id)?.reject(error)
  }

  #failAll(): void {
    for (const id of [...this.#waiting.keys()]) this.#fail(id, unavailable({ code: 'EXPLORER_STOPPED' }))
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
        reject(unavailable({ code: 'EXPLORER_STOPPED' }))
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
      if (message.type === 'answer') this.#settle(message.answer.id)?.resolve(message.answer)
    })
    return new Promise((resolve, reject) => {
      worker.on('message', ({ type }: FromExplorerThread) => type === 'opened' && resolve(worker))
      worker.on('exit', () => {
        this.#api = undefined
        reject(unavailable({ code: 'EXPLORER_STOPPED' }))
        this.#failAll()
      })
    })
  }

  #startWorker(name: string, script: URL): Worker {
    const workerData: ExplorerThreadStart = { ...this.#start, signals: this.#signals }
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
      this.#logger.error(
        { thread: name, err: error instanceof Error ? (error.stack ?? error.message) : String(error) },
        'a thread of the explorer failed',
      )
    })
    worker.on('message', (message: FromExplorerThread) => {
      if (message.type === 'log') this.#logger[message.level](message.fields, message.message)
    })
    return worker
  }

  #restart(begin: () => void): void {
    if (this.#isClosed) return
    setTimeout(() => !this.#isClosed && begin(), EXPLORER_LIMITS.api.restartMs).unref()
  }
}

const unavailable = (detail: ExplorerUnavailable): CodedError<ExplorerUnavailable> => new CodedError(detail)

/** Ends a thread when its transaction is done. One that takes too long is terminated; its transaction is then rolled back. */
const endThread = async (worker: Worker | undefined): Promise<void> => {
  if (worker !== undefined) await endWorker(worker, CLOSE_MS)
}
