import type { ChunkStream } from '@tandem/base/async/chunk-stream.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { WorkerEnded, WorkerFault } from '@tandem/base/worker/protocol.ts'
import { WorkerPool } from '@tandem/base/worker/worker-pool.ts'
import { TRACE_LIMITS } from '../../config/limits/clients.ts'
import type { ChainParams } from '../../config/networks.ts'
import type { EngineName } from '../../evm/engines/select-engine.ts'
import type { TraceError } from '../../evm/tracers/config.ts'
import type { Store } from '../../storage/store.ts'
import type { TraceMethods, TraceRequest, TraceWorkerData } from './worker-protocol.ts'

export interface TraceServiceOptions {
  /** Opened by the worker as well. */
  readonly store: Pick<Store, 'share'>
  readonly params: ChainParams
  readonly engine: EngineName
  readonly logger: Logger
}

const traceError = (detail: TraceError): CodedError<TraceError> => new CodedError(detail)
const STOPPING = traceError({ code: 'TRACE_FAILED', reason: 'the node is stopping' })
const WORKER_ENDED = traceError({ code: 'TRACE_FAILED', reason: 'the trace worker ended, try again' })
const QUEUE_FULL = traceError({ code: 'TRACE_QUEUE_FULL', limit: TRACE_LIMITS.queue })

/** Traces in a worker thread, started by the first and stopped when idle; each runs as fast as its reader. One that hangs is replaced. */
export class TraceService {
  readonly #logger: Logger
  readonly #pool: WorkerPool<TraceMethods>

  constructor({ store, params, engine, logger }: TraceServiceOptions) {
    this.#logger = logger
    const { stuckMs, blockedMs, heapMegabytes, nurseryMegabytes, inFlight, queue, idleWorkerMs } = TRACE_LIMITS
    this.#pool = new WorkerPool({
      name: 'traces',
      url: new URL('./trace-worker.ts', import.meta.url),
      data: (): TraceWorkerData => ({ store: store.share(), params, engine }),
      hasStore: true,
      limits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: nurseryMegabytes },
      heartbeat: { everyMs: stuckMs / 30, stuckMs, blockedMs },
      inFlight,
      queue,
      idleMs: idleWorkerMs,
      onEnd: error => logger.warn({ err: error }, 'trace worker failed'),
    })
  }

  /** Returns the result, which starts when first read. It fails with CodedError<TraceError> or MISSING_STATE. */
  trace(request: TraceRequest): ChunkStream<Uint8Array> {
    return this.#pool.stream({ name: 'trace', args: () => [request] }, error => this.#asTraceError(error))
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  #asTraceError(error: Error): Error {
    if (error instanceof WorkerEnded) {
      const { silentMs } = error
      return silentMs === undefined ? WORKER_ENDED : traceError({ code: 'TRACE_TIMEOUT', timeoutMs: silentMs })
    }
    if (error instanceof WorkerFault) {
      this.#logger.error({ fault: error.message }, 'trace failed')
      return traceError({ code: 'TRACE_FAILED', reason: 'internal error' })
    }
    if (!isCoded(error)) return error
    if (error.code === 'WORKER_QUEUE_FULL') return QUEUE_FULL
    return error.code === 'WORKER_CLOSED' ? STOPPING : error
  }
}
