import { Worker } from 'node:worker_threads'
import { TRACE_LIMITS } from '../../config/limits/clients.ts'
import type { ChainParams } from '../../config/networks.ts'
import type { TraceError } from '../../evm/tracers/config.ts'
import { BoundedQueue } from '../../util/async/bounded-queue.ts'
import type { ChunkStream } from '../../util/async/chunk-stream.ts'
import { CodedError } from '../../util/errors.ts'
import type { Logger } from '../../util/logger.ts'
import { type StreamOwner, TraceStream } from './trace-stream.ts'
import {
  type FromTraceWorker,
  type ToTraceWorker,
  TRACE_HEARTBEAT,
  TRACE_SHARED_BYTES,
  type TraceRequest,
  type TraceWorkerStart,
} from './worker-protocol.ts'

interface TraceServiceOptions {
  /** LevelDB directory, opened by the worker as well. */
  readonly storePath: string
  readonly params: ChainParams
  readonly logger: Logger
}

const traceError = (detail: TraceError): CodedError<TraceError> => new CodedError(detail)
const STOPPING = traceError({ code: 'TRACE_FAILED', reason: 'the node is stopping' })
const WORKER_ENDED = traceError({ code: 'TRACE_FAILED', reason: 'the trace worker ended, try again' })
const QUEUE_FULL = traceError({ code: 'TRACE_QUEUE_FULL', limit: TRACE_LIMITS.queue })

/**
 * Traces in a separate worker thread, so that calls never wait for them. The first trace starts it; it is stopped when idle.
 * Several traces share it; each runs only as fast as its reader.
 */
export class TraceService implements StreamOwner {
  readonly #options: TraceServiceOptions
  readonly #queue = new BoundedQueue<TraceStream>(TRACE_LIMITS.queue)
  readonly #running = new Map<number, TraceStream>()
  readonly #ids = new WeakMap<TraceStream, number>()
  readonly #signals = new Int32Array(new SharedArrayBuffer(TRACE_SHARED_BYTES))
  #worker: Worker | undefined = undefined
  #watch: NodeJS.Timeout | undefined = undefined
  #nextId = 1
  #beats = 0
  #beatMs = 0
  /** Time of the last start or end of a trace. */
  #busyMs = 0
  #isClosed = false

  constructor(options: TraceServiceOptions) {
    this.#options = options
  }

  /** Returns the result, which starts when first read. It fails with CodedError<TraceError> or MISSING_STATE. */
  trace(request: TraceRequest): ChunkStream<Uint8Array> {
    return new TraceStream(request, this)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#watch)
    for (const stream of [...this.#running.values(), ...this.#queue.take(this.#queue.size)]) stream.end(STOPPING)
    this.#running.clear()
    await this.#worker?.terminate()
  }

  // Called by the streams.

  start(stream: TraceStream): void {
    if (this.#isClosed) stream.end(STOPPING)
    else if (!this.#queue.push(stream)) stream.end(QUEUE_FULL)
    else this.#dispatch()
  }

  credit(stream: TraceStream): void {
    this.#tell(stream, 'credit')
  }

  /** The slot is freed when the worker has ended the trace; a waiting request ends when its turn comes. */
  cancel(stream: TraceStream): void {
    this.#tell(stream, 'cancel')
  }

  #tell(stream: TraceStream, type: 'credit' | 'cancel'): void {
    const id = this.#ids.get(stream)
    if (id !== undefined && this.#running.has(id)) this.#post({ type, id })
  }

  #dispatch(): void {
    while (this.#running.size < TRACE_LIMITS.inFlight) {
      const stream = this.#queue.shift()
      if (stream === undefined) return
      if (!stream.isOpen) continue
      const id = this.#nextId++
      this.#ids.set(stream, id)
      this.#running.set(id, stream)
      this.#busyMs = performance.now()
      this.#post({ type: 'job', id, request: stream.request })
    }
  }

  #post(message: ToTraceWorker): void {
    this.#worker ??= this.#start()
    this.#worker.postMessage(message)
  }

  #start(): Worker {
    const { storePath, params } = this.#options
    const start: TraceWorkerStart = { storePath, params, shared: this.#signals.buffer as SharedArrayBuffer }
    const worker = new Worker(new URL('./trace-worker.ts', import.meta.url), {
      name: 'traces',
      workerData: start,
      resourceLimits: {
        maxOldGenerationSizeMb: TRACE_LIMITS.heapMegabytes,
        maxYoungGenerationSizeMb: TRACE_LIMITS.nurseryMegabytes,
      },
    })
    worker.unref()
    worker.on('message', (message: FromTraceWorker) => this.#receive(message))
    worker.on('error', error => this.#options.logger.warn({ err: error }, 'trace worker failed'))
    worker.on('exit', () => this.#ended(worker, WORKER_ENDED))
    this.#beatMs = this.#busyMs = performance.now()
    this.#watch = setInterval(() => this.#look(worker), TRACE_LIMITS.stuckMs / 10).unref()
    return worker
  }

  #receive(message: FromTraceWorker): void {
    const stream = this.#running.get(message.id)
    if (message.type === 'chunk') {
      stream?.push(message.chunk)
      return
    }
    this.#running.delete(message.id)
    this.#busyMs = performance.now()
    if (message.type === 'fault') this.#options.logger.error({ fault: message.message }, 'trace failed')
    stream?.end(errorOf(message))
    this.#dispatch()
  }

  /** Stops a worker that hangs in indivisible work, and one that has been idle for a while. */
  #look(worker: Worker): void {
    const nowMs = performance.now()
    const beats = Atomics.load(this.#signals, TRACE_HEARTBEAT)
    if (beats !== this.#beats) {
      this.#beats = beats
      this.#beatMs = nowMs
    }
    const silentMs = nowMs - this.#beatMs
    const isIdle = this.#running.size === 0 && nowMs - this.#busyMs > TRACE_LIMITS.idleWorkerMs
    if (silentMs > TRACE_LIMITS.stuckMs) this.#stop(worker, traceError({ code: 'TRACE_TIMEOUT', timeoutMs: silentMs }))
    else if (isIdle) this.#stop(worker, WORKER_ENDED)
  }

  #stop(worker: Worker, error: Error): void {
    this.#ended(worker, error)
    worker.terminate().catch(() => {})
  }

  /** The next trace starts a new worker. */
  #ended(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    clearInterval(this.#watch)
    const streams = [...this.#running.values()]
    this.#running.clear()
    for (const stream of streams) stream.cut(error)
    if (!this.#isClosed) this.#dispatch()
  }
}

const errorOf = (message: Exclude<FromTraceWorker, { readonly type: 'chunk' }>): Error | undefined => {
  if (message.type === 'done') return undefined
  return message.type === 'failed'
    ? new CodedError(message.detail)
    : traceError({ code: 'TRACE_FAILED', reason: 'internal error' })
}
