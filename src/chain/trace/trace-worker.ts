import { CodedError } from '@tandem/base/errors.ts'
import { collectExternalGarbage, collectGarbage, externalBytes } from '@tandem/base/worker/garbage.ts'
import { lowerThreadPriority } from '@tandem/base/worker/priority.ts'
import { type ServedCall, serveWorker, workerStartData } from '@tandem/base/worker/serve-worker.ts'
import { TRACE_LIMITS } from '../../config/limits/clients.ts'
import { createSliceScheduler } from '../../evm/calls/worker/slice-scheduler.ts'
import { loadEngine } from '../../evm/engines/select-engine.ts'
import { dropIdleMachines, forgetDroppedMachines, machineBytes } from '../../evm/engines/wasm/pool.ts'
import type { TraceError } from '../../evm/tracers/config.ts'
import { JsonSink } from '../../evm/tracers/json-sink.ts'
import { Store } from '../../storage/store.ts'
import { RequestTimer } from './request-timer.ts'
import { runTrace } from './run-trace.ts'
import type { TraceMethods, TraceRequest, TraceWorkerData } from './worker-protocol.ts'

/* Worker thread for traces, with its own store handle. Each trace pauses for backpressure, and ends when its reader is gone. */

lowerThreadPriority()
const { store: handle, params, engine: engineName } = workerStartData<TraceWorkerData>()
const opening = Store.attach(handle)
const scheduler = createSliceScheduler()
const loading = loadEngine(engineName)

const isBeyondMemory = (): boolean => externalBytes() + machineBytes() > TRACE_LIMITS.frameBytes

/** Throws TRACE_TOO_LARGE when all traces hold more memory than they may: the one that runs ends. It may wait long for its reader. */
const checkMemory = (): void => {
  // A collection returns the memory of byte arrays some time later, and at the latest when the next one begins.
  for (let collections = 0; isBeyondMemory(); collections++) {
    if (collections === 2)
      throw new CodedError<TraceError>({ code: 'TRACE_TOO_LARGE', limitBytes: TRACE_LIMITS.frameBytes })
    dropIdleMachines()
    collectGarbage()
    forgetDroppedMachines()
  }
}

const trace = async (request: TraceRequest, call: ServedCall): Promise<void> => {
  // Before the clock starts: EthereumJS takes a second to load.
  const engine = await loading
  const sink = new JsonSink({
    emit: chunk => call.sendChunk(chunk),
    chunkChars: TRACE_LIMITS.chunkChars,
    limitBytes: TRACE_LIMITS.answerBytes,
    credits: TRACE_LIMITS.chunks,
  })
  call.onCredit(() => sink.credit())
  call.onCancel(() => sink.abandon())
  const requestTimer = new RequestTimer({
    async giveWay() {
      checkMemory()
      collectExternalGarbage()
      await scheduler.giveWay()
      call.beat()
    },
    isCancelled: () => call.isCancelled,
    nowMs: () => performance.now(),
  })
  try {
    await runTrace({ store: await opening, params, engine, sink, requestTimer }, request)
  } finally {
    // The next trace must not begin with so much of this one's memory that it is refused.
    if (machineBytes() > TRACE_LIMITS.frameBytes / 2) dropIdleMachines()
    setImmediate(collectExternalGarbage)
  }
}

serveWorker<TraceMethods>({ trace }, { order: 'parallel' })
