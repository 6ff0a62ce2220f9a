import { parentPort, workerData } from 'node:worker_threads'
import { TRACE_LIMITS } from '../../config/limits/clients.ts'
import { createSliceScheduler } from '../../evm/calls/slice-scheduler.ts'
import { createInterpreter } from '../../evm/engines/interpreter/engine.ts'
import { JsonSink } from '../../evm/tracers/json-sink.ts'
import { Store } from '../../storage/store.ts'
import { assert } from '../../util/assert.ts'
import { isCoded } from '../../util/errors.ts'
import { lowerThreadPriority } from '../../util/worker/priority.ts'
import { RequestTimer } from './request-timer.ts'
import { runTrace } from './run-trace.ts'
import {
  type FromTraceWorker,
  type ToTraceWorker,
  TRACE_HEARTBEAT,
  type TraceRequest,
  type TraceWorkerStart,
} from './worker-protocol.ts'

/*
 * Worker thread for traces, with its own store handle. Several traces share it; each pauses for backpressure, and ends when its
 * reader is gone.
 */

const port = parentPort
assert(port !== null, 'the trace worker is a worker')
const { storePath, params, shared } = workerData as TraceWorkerStart
const signals = new Int32Array(shared)
lowerThreadPriority()
const scheduler = createSliceScheduler()
const engine = createInterpreter()
const tracingEngine = createInterpreter()

interface Job {
  readonly sink: JsonSink
  isCancelled: boolean
}
const jobs = new Map<number, Job>()

const beat = (): void => void Atomics.add(signals, TRACE_HEARTBEAT, 1)
// The service reads this heartbeat while it waits.
setInterval(beat, TRACE_LIMITS.stuckMs / 30).unref()

const begin = (id: number): Job => {
  const sink = new JsonSink({
    emit: chunk => port.postMessage({ type: 'chunk', id, chunk } satisfies FromTraceWorker, [chunk.buffer]),
    chunkChars: TRACE_LIMITS.chunkChars,
    limitBytes: TRACE_LIMITS.answerBytes,
    credits: TRACE_LIMITS.chunks,
  })
  const job = { sink, isCancelled: false }
  jobs.set(id, job)
  return job
}

const run = async (id: number, request: TraceRequest): Promise<FromTraceWorker> => {
  const job = begin(id)
  const { sink } = job
  const requestTimer = new RequestTimer({
    giveWay: () => scheduler.giveWay().then(beat),
    isCancelled: () => job.isCancelled,
    nowMs: () => performance.now(),
  })
  try {
    await runTrace({ store: await opening, params, engine, tracingEngine, sink, requestTimer }, request)
    return { type: 'done', id }
  } catch (error) {
    if (isCoded(error)) return { type: 'failed', id, detail: error.detail }
    return { type: 'fault', id, message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  } finally {
    jobs.delete(id)
  }
}

const cancel = (id: number): void => {
  const job = jobs.get(id)
  if (job === undefined) return
  job.isCancelled = true
  job.sink.abandon()
}

const opening = Store.open(storePath, { createIfMissing: false })

port.on('message', (message: ToTraceWorker) => {
  if (message.type === 'job') void run(message.id, message.request).then(answer => port.postMessage(answer))
  else if (message.type === 'credit') jobs.get(message.id)?.sink.credit()
  else cancel(message.id)
})
