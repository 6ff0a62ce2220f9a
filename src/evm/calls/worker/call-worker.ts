import { getHeapStatistics } from 'node:v8'
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '@tandem/base/assert.ts'
import { Batcher } from '@tandem/base/async/batcher.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { EndRequest } from '@tandem/base/worker/end-worker.ts'
import { collectExternalGarbage, collectGarbage, externalBytes } from '@tandem/base/worker/garbage.ts'
import { lowerThreadPriority } from '@tandem/base/worker/priority.ts'
import { systemThreadId } from '@tandem/base/worker/thread-time.ts'
import { CALL_LIMITS } from '../../../config/limits/clients.ts'
import { EXECUTION_LIMITS } from '../../../config/limits/execution.ts'
import { overlayReader } from '../../../state/overlay-reader.ts'
import type { StateChanges } from '../../../state/update/state-update.ts'
import { Store } from '../../../storage/store.ts'
import type { BlockEnv, SerializedEnv } from '../../block-env.ts'
import type { CallError, Engine, Interrupt } from '../../engine.ts'
import { loadEngine } from '../../engines/select-engine.ts'
import { dropIdleMachines, forgetDroppedMachines, machineBytes } from '../../engines/wasm/pool.ts'
import { createPrefetchedReader } from '../../prefetched-reader.ts'
import { type CallContext, callError } from '../message/call-message.ts'
import { call, createAccessList, estimateGas } from '../run-call.ts'
import { simulateBlocks } from '../simulate/simulate-blocks.ts'
import type { HashBlocks, SimulatedBlock } from '../simulate/types.ts'
import { createSliceScheduler } from './slice-scheduler.ts'
import { createStateCache, type OpenedState } from './state-cache.ts'
import {
  type BlockHashes,
  CALL_HEARTBEAT,
  CALL_RUNNING_JOB,
  CALL_THREAD_ID,
  type CallAnswer,
  type CallJob,
  type CallKind,
  type CallKinds,
  type CancelledCall,
  envFromSerialized,
  MAX_NAMED_VALUES,
  type NamedValue,
  type WorkerMessage,
  type WorkerStart,
} from './worker-protocol.ts'

/* Memory of the calls of one worker thread: frames, which are outside the heap, and the words and lists of the interpreter on the heap. */

/** Returns true while the calls hold more than their limits, or left garbage of that size. */
const isBeyondMemory = (): boolean => {
  if (externalBytes() + machineBytes() > CALL_LIMITS.frameBytes) return true
  return getHeapStatistics().used_heap_size > CALL_LIMITS.heapUsedBytes
}

/** Returns true when the running calls exceed their memory, also after a garbage collection: the current one is then stopped. */
const isStarved = (): boolean => {
  if (!isBeyondMemory()) return false
  dropIdleMachines()
  collectGarbage()
  forgetDroppedMachines()
  return isBeyondMemory()
}

/** Returns the memory of past calls to the system; called when no call runs. */
const releaseMemory = (): void => {
  if (externalBytes() + machineBytes() < CALL_LIMITS.idleBytes) return
  dropIdleMachines()
  collectGarbage()
  forgetDroppedMachines()
}

/* Worker thread for calls, with its own store handle, in slices of EXECUTION_LIMITS.callSliceMs; the service detects one that holds it. */

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
const port = parentPort
assert(port !== null, 'the call worker is a worker')
lowerThreadPriority()
const { store: handle, params, engine: engineName, shared } = workerData as WorkerStart
const signals = new Int32Array(shared)
Atomics.store(signals, CALL_THREAD_ID, systemThreadId())
const scheduler = createSliceScheduler()
let engine: Engine
let store: Store
let withState: ReturnType<typeof createStateCache>

const batcher = new Batcher<WorkerMessage>(CALL_LIMITS.batch, messages => port.postMessage(messages))
const post = (message: WorkerMessage): void => batcher.add(message)

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
const envs = createNames((env: SerializedEnv): BlockEnv => envFromSerialized(env, params, store))
const overlays = createNames((changes: StateChanges) => changes)

/** Deadlines of the calls in this worker, from their arrival; a cancelled one has none left. */
const deadlines = new Map<number, number>()
const isOver = (id: number): boolean => performance.now() >= (deadlines.get(id) ?? 0)

const beat = (): void => void Atomics.add(signals, CALL_HEARTBEAT, 1)

const interruptFor = (id: number): Interrupt => {
  return {
    sliceMs: EXECUTION_LIMITS.callSliceMs,
    async giveWay() {
      // Checked at the end of a slice, before another call allocates more: a slice is enough for tens of megabytes.
      if (isStarved()) throw callError({ code: 'EXECUTION_FAILED', reason: 'out of memory' })
      collectExternalGarbage()
      await scheduler.giveWay()
      Atomics.store(signals, CALL_RUNNING_JOB, id)
      beat()
    },
    shouldStop: () => isOver(id),
  }
}

const contextOf = (
  state: OpenedState,
  env: BlockEnv,
  overlay: StateChanges | undefined,
  interrupt: Interrupt,
): CallContext => {
  const { reader, prefetch } =
    state.sync === undefined ? createPrefetchedReader(state.async) : { reader: state.sync, prefetch: undefined }
  return {
    reader: overlay === undefined ? reader : overlayReader(reader, overlay),
    prefetch,
    env,
    engine,
    interrupt,
  }
}

const answer = (job: CallJob, env: BlockEnv, overlay: StateChanges | undefined): Promise<CallAnswer> =>
  withState<CallAnswer>(job, state => {
    Atomics.store(signals, CALL_RUNNING_JOB, job.id)
    const run = KINDS[job.kind] as Run<CallKind>
    return run(contextOf(state, env, overlay, interruptFor(job.id)), job.request, blocks => askHashes(job.id, blocks))
  })

/** Simulations that wait for the hashes of their blocks. */
const asking = new Map<number, (answer: BlockHashes['hashes']) => void>()

const askHashes = async (id: number, blocks: readonly SimulatedBlock[]): Promise<readonly Hex[]> => {
  const hashes = await new Promise<BlockHashes['hashes']>(resolve => {
    asking.set(id, resolve)
    post({ type: 'hash', id, blocks })
  })
  asking.delete(id)
  if (hashes === null) throw callError({ code: 'EXECUTION_FAILED', reason: 'block hashes are not available' })
  return hashes
}

/** Complete list, so that none of them is treated as a fault of this node. */
const CALL_ERRORS: { readonly [Code in CallError['code']]: true } = {
  EXECUTION_REVERTED: true,
  EXECUTION_FAILED: true,
  EXECUTION_TIMEOUT: true,
  INSUFFICIENT_BALANCE_FOR_TRANSFER: true,
  INTRINSIC_GAS_TOO_LOW: true,
  GAS_REQUIRED_EXCEEDS_ALLOWANCE: true,
  CHAIN_ID_MISMATCH: true,
  MISSING_STATE: true,
  OVERRIDE_CONFLICT: true,
  NOT_A_PRECOMPILE: true,
  PRECOMPILE_MOVED_TO_ITSELF: true,
  ALREADY_OVERRIDDEN: true,
  CALL_QUEUE_FULL: true,
  CLIENT_QUEUE_FULL: true,
  SIMULATION_NUMBER_ORDER: true,
  SIMULATION_TIME_ORDER: true,
  SIMULATION_LIMIT: true,
  SIMULATION_CALL_INVALID: true,
}

const TIMED_OUT = callError({ code: 'EXECUTION_TIMEOUT', timeoutMs: CALL_LIMITS.timeoutMs })

const refusalFor = (id: number, error: unknown): WorkerMessage & { readonly id: number } => {
  if (isCoded(error) && error.code === 'EXECUTION_INTERRUPTED') {
    return { type: 'refusal', id, detail: { code: 'EXECUTION_TIMEOUT', timeoutMs: CALL_LIMITS.timeoutMs } }
  }
  if (isCoded(error) && Object.hasOwn(CALL_ERRORS, error.code))
    return { type: 'refusal', id, detail: error.detail as CallError }
  return { type: 'fault', id, message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

/** Calls that have started. */
let running = 0
let idleTimer: NodeJS.Timeout | undefined

const end = (message: WorkerMessage & { readonly id: number }): void => {
  deadlines.delete(message.id)
  post(message)
  // The next call must not begin with the memory of one that was stopped for it.
  if (isBeyondMemory()) dropIdleMachines()
  if (deadlines.size === 0) idleTimer = setTimeout(releaseMemory, CALL_LIMITS.idleStateMs).unref()
}

const begin = async (job: CallJob): Promise<void> => {
  clearTimeout(idleTimer)
  beat()
  // Named values are stored synchronously: jobs arrive in the order in which the service sent them.
  const env = envs(job.env)
  const overlay = job.overlay === null ? undefined : overlays(job.overlay)
  // Memory is checked at the end of each slice: a new call waits until those that run are within their limit.
  while (running > 0 && isBeyondMemory()) {
    if (isOver(job.id)) {
      end(refusalFor(job.id, TIMED_OUT))
      return
    }
    await scheduler.giveWay()
    beat()
  }
  running++
  const message = await answer(job, env, overlay).then(
    (result): WorkerMessage & { readonly id: number } => ({ type: 'answer', id: job.id, answer: result }),
    (error: unknown) => refusalFor(job.id, error),
  )
  running--
  end(message)
}

const start = async (): Promise<void> => {
  engine = await loadEngine(engineName)
  store = await Store.attach(handle)
  withState = createStateCache(store)
  // The service reads this heartbeat while it waits for results.
  setInterval(beat, CALL_LIMITS.stuckMs / 3).unref()

  port.on('message', (message: readonly CallJob[] | BlockHashes | CancelledCall | EndRequest) => {
    beat()
    if ('end' in message) process.exit()
    else if ('hashes' in message) asking.get(message.id)?.(message.hashes)
    else if ('cancel' in message) {
      if (deadlines.has(message.cancel)) deadlines.set(message.cancel, 0)
    }
    // One after the other: the next one starts when this one has ended or waits.
    else
      for (const job of message) {
        deadlines.set(job.id, performance.now() + CALL_LIMITS.timeoutMs)
        setImmediate(begin, job)
      }
  })
  post({ type: 'ready' })
}

void start()
