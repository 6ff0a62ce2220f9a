import { getHeapStatistics } from 'node:v8'
import type { MessagePort } from 'node:worker_threads'
import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { collectExternalGarbage, collectGarbage, externalBytes } from '@tandem/base/worker/garbage.ts'
import { lowerThreadPriority } from '@tandem/base/worker/priority.ts'
import { type ServedCall, serveWorker, Transferred, workerStartData } from '@tandem/base/worker/serve-worker.ts'
import { CALL_LIMITS } from '../../../config/limits/clients.ts'
import { EXECUTION_LIMITS } from '../../../config/limits/execution.ts'
import { overlayReader } from '../../../state/overlay-reader.ts'
import type { StateChanges } from '../../../state/update/state-update.ts'
import { Store } from '../../../storage/store.ts'
import type { BlockEnv, SerializedEnv } from '../../block-env.ts'
import type { Interrupt } from '../../engine.ts'
import { loadEngine } from '../../engines/select-engine.ts'
import { dropIdleMachines, forgetDroppedMachines, machineBytes } from '../../engines/wasm/pool.ts'
import { createPrefetchedReader } from '../../prefetched-reader.ts'
import { type CallContext, callError } from '../message/call-message.ts'
import { call, createAccessList, estimateGas } from '../run-call.ts'
import { simulateBlocks } from '../simulate/simulate-blocks.ts'
import type { HashBlocks } from '../simulate/types.ts'
import { createSliceScheduler } from './slice-scheduler.ts'
import { createStateCache } from './state-cache.ts'
import {
  type CallAnswer,
  type CallJob,
  type CallKind,
  type CallKinds,
  type CallMethods,
  type CallWorkerData,
  envFromSerialized,
  MAX_NAMED_VALUES,
  type NamedValue,
} from './worker-protocol.ts'

/* Memory of the calls of one worker thread: frames, which are outside the heap, and the words and lists of the interpreter on the heap. */

/** Returns true while the calls hold more than their limits, or left garbage of that size. */
const isBeyondMemory = (): boolean => {
  if (externalBytes() + machineBytes() > CALL_LIMITS.frameBytes) return true
  return getHeapStatistics().used_heap_size > CALL_LIMITS.heapUsedBytes
}

/** Returns the memory of past calls to the system. */
const releaseMemory = (): void => {
  dropIdleMachines()
  collectGarbage()
  forgetDroppedMachines()
}

/** Returns true when the running calls exceed their memory, also after a garbage collection: the current one is then stopped. */
const isStarved = (): boolean => {
  if (!isBeyondMemory()) return false
  releaseMemory()
  return isBeyondMemory()
}

/** Called when no call runs. */
const releaseIdle = (): void => {
  if (externalBytes() + machineBytes() >= CALL_LIMITS.idleBytes) releaseMemory()
}

/* Worker thread for calls, with its own store handle, in slices of EXECUTION_LIMITS.callSliceMs. */

type Run<Kind extends CallKind> = (
  context: CallContext,
  request: CallKinds[Kind]['request'],
  hash: HashBlocks,
) => Promise<CallKinds[Kind]['answer']>

const KINDS: { readonly [Kind in CallKind]: Run<Kind> } = {
  call,
  estimateGas,
  createAccessList,
  simulate: simulateBlocks,
}

lowerThreadPriority()
const { store: handle, params, engine: engineName } = workerStartData<CallWorkerData>()
const scheduler = createSliceScheduler()

/** Caches values by the id under which they were first sent. */
const createNames = <Sent, Value>(make: (sent: Sent) => Value) => {
  const values = new Map<number, Value>()
  return ({ id, value }: NamedValue<Sent>): Value => {
    if (value !== undefined) {
      values.set(id, make(value))
      const [oldest] = values.keys()
      if (values.size > MAX_NAMED_VALUES && oldest !== undefined) values.delete(oldest)
    }
    const found = values.get(id)
    assert(found !== undefined, 'a value is sent before it is named')
    return found
  }
}

/** The call has its time from its arrival; a cancelled one has none left. */
const interruptFor = (served: ServedCall, client: string): Interrupt => {
  const endMs = performance.now() + CALL_LIMITS.timeoutMs
  return {
    sliceMs: EXECUTION_LIMITS.callSliceMs,
    async giveWay() {
      // Checked at the end of a slice, before another call allocates more: a slice is enough for tens of megabytes.
      if (hasMost(client) && isStarved()) throw callError({ code: 'EXECUTION_FAILED', reason: 'out of memory' })
      collectExternalGarbage()
      await scheduler.giveWay(client)
      served.beat()
    },
    shouldStop: () => served.isCancelled || performance.now() >= endMs,
  }
}

/** Requests the hashes of simulated blocks by the port of the call. */
const hashesBy =
  (port: MessagePort | undefined): HashBlocks =>
  async blocks => {
    assert(port !== undefined, 'a simulation comes with a port')
    const hashes = await new Promise<readonly Hex[] | null>(resolve => {
      port.once('message', resolve)
      port.once('close', () => resolve(null))
      port.postMessage(blocks)
    })
    if (hashes === null) throw callError({ code: 'EXECUTION_FAILED', reason: 'block hashes are not available' })
    return hashes
  }

const TIMED_OUT = callError({ code: 'EXECUTION_TIMEOUT', timeoutMs: CALL_LIMITS.timeoutMs })
const isInterrupted = (error: unknown): boolean => isCoded(error) && error.code === 'EXECUTION_INTERRUPTED'

/** Calls that have arrived, and by client those of them that have started. */
let open = 0
const running = new Map<string, number>()
let idleTimer: NodeJS.Timeout | undefined

const countRunning = (client: string, change: 1 | -1): void => {
  const count = (running.get(client) ?? 0) + change
  if (count === 0) running.delete(client)
  else running.set(client, count)
}

/** Returns true when no client has more running calls: the memory of all is above all its own. */
const hasMost = (client: string): boolean => (running.get(client) ?? 0) >= Math.max(...running.values())

/** Runs a call when its client has no other, or the memory of those that run is within its limit, checked at the end of each slice. */
const runNext = async (client: string, interrupt: Interrupt, served: ServedCall, work: () => Promise<CallAnswer>) => {
  clearTimeout(idleTimer)
  open++
  try {
    while (running.has(client) && isBeyondMemory()) {
      if (interrupt.shouldStop()) throw TIMED_OUT
      await scheduler.giveWay(client)
      served.beat()
    }
    countRunning(client, 1)
    return await work().finally(() => countRunning(client, -1))
  } catch (error) {
    throw isInterrupted(error) ? TIMED_OUT : error
  } finally {
    // The next call must not begin with the memory of one that was stopped for it.
    if (isBeyondMemory()) dropIdleMachines()
    if (--open === 0) idleTimer = setTimeout(releaseIdle, CALL_LIMITS.idleStateMs).unref()
  }
}

/** Longer outputs move to the main thread; copies of shorter ones cost less. */
const MOVED_BYTES = 64 * 1024

const start = async (): Promise<void> => {
  const engine = await loadEngine(engineName)
  const store = await Store.attach(handle)
  const withState = createStateCache(store)
  const envs = createNames((env: SerializedEnv): BlockEnv => envFromSerialized(env, params, store))
  const overlays = createNames((changes: StateChanges) => changes)
  const run = async (job: CallJob, served: ServedCall): Promise<CallAnswer | Transferred<CallAnswer>> => {
    // Named values are stored synchronously: jobs arrive in the order in which the service sent them.
    const env = envs(job.env)
    const overlay = job.overlay === null ? undefined : overlays(job.overlay)
    const interrupt = interruptFor(served, job.client)
    const answer = await runNext(job.client, interrupt, served, () =>
      withState<CallAnswer>(job, state => {
        served.beat()
        const runKind = KINDS[job.kind] as Run<CallKind>
        const { reader: base, prefetch } =
          state.sync === undefined ? createPrefetchedReader(state.async) : { reader: state.sync, prefetch: undefined }
        const reader = overlay === undefined ? base : overlayReader(base, overlay)
        return runKind({ reader, prefetch, env, engine, interrupt }, job.request, hashesBy(job.hashes))
      }),
    )
    // Megabytes go at once, and count for no other call.
    const isLong = typeof answer === 'object' && 'output' in answer && answer.output.byteLength > MOVED_BYTES
    return isLong ? new Transferred<CallAnswer>(answer, [answer.output]) : answer
  }
  serveWorker<CallMethods>({ run }, { order: 'parallel', batch: CALL_LIMITS.batch })
}

void start()
