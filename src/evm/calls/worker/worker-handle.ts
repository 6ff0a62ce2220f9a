import type { Worker } from 'node:worker_threads'
import { assert } from '@tandem/base/assert.ts'
import { Batcher } from '@tandem/base/async/batcher.ts'
import { startThread } from '@tandem/base/own-files.ts'
import { endWorker } from '@tandem/base/worker/end-worker.ts'
import { addLoadingThread, LOAD_MS } from '@tandem/base/worker/loading-threads.ts'
import { Silence } from '@tandem/base/worker/silence.ts'
import { threadTimeMs } from '@tandem/base/worker/thread-time.ts'
import { CALL_LIMITS } from '../../../config/limits/clients.ts'
import type { StateChanges } from '../../../state/update/state-update.ts'
import type { SerializedEnv } from '../../block-env.ts'
import type { CallError } from '../../engine.ts'
import type { HashBlocks, SimulatedBlock } from '../simulate/types.ts'
import {
  type BlockHashes,
  CALL_HEARTBEAT,
  CALL_RUNNING_JOB,
  CALL_SHARED_BYTES,
  CALL_THREAD_ID,
  type CallAnswer,
  type CallJob,
  type CallJobRequest,
  type CallKind,
  type CancelledCall,
  MAX_NAMED_VALUES,
  type NamedValue,
  transferableRequest,
  type WorkerMessage,
  type WorkerStart,
} from './worker-protocol.ts'

/** Call with a stable promise, whatever worker runs it. */
export interface PendingCall {
  /** Another one when it moves to another worker: what the first one returns is dropped. */
  id: number
  /** Client that waits for it. */
  readonly client: string
  readonly kind: CallKind
  readonly request: CallJobRequest
  readonly number: number
  readonly revision: number
  readonly env: SerializedEnv
  readonly overlay: StateChanges | null
  /** Number of times it was sent to a worker. */
  attempts: number
  sentMs: number
  resolve(answer: CallAnswer): void
  refuse(detail: CallError): void
  /** For a simulation: source of its blocks' hashes. */
  readonly hash?: HashBlocks
  reject(error: unknown): void
}

/** Numbers large values; a value the worker already has is sent as its number only. */
const createNaming = <Value extends object>() => {
  const ids = new WeakMap<Value, number>()
  const known = new Set<number>()
  let next = 1
  return (value: Value): NamedValue<Value> => {
    const id = ids.get(value) ?? next++
    if (known.has(id)) return { id }
    ids.set(value, id)
    known.add(id)
    // The worker adds and drops values in the same order.
    const [oldest] = known
    if (known.size > MAX_NAMED_VALUES && oldest !== undefined) known.delete(oldest)
    return { id, value }
  }
}

export interface CallWorkerEvents {
  /** The worker responded: it may have room. */
  settled(worker: CallWorkerHandle, call: PendingCall, message: WorkerMessage): void
  /** The worker accepted or released work. */
  ready(worker: CallWorkerHandle): void
  /** The worker ended unexpectedly. */
  died(worker: CallWorkerHandle, error: Error | undefined): void
}

/** Call worker as the service sees it. */
export class CallWorkerHandle {
  readonly calls = new Map<number, PendingCall>()
  ready = false
  /** Time since when no call is under way. */
  idleSinceMs = performance.now()
  readonly #worker: Worker
  readonly #signals: Int32Array
  readonly #jobs = new Batcher<CallJob>(CALL_LIMITS.batch, jobs => this.#worker.postMessage(jobs))
  readonly #nameEnv = createNaming<SerializedEnv>()
  readonly #nameOverlay = createNaming<StateChanges>()
  readonly #silence = new Silence(performance.now(), CALL_LIMITS)
  #stopped = false

  constructor({ store, params, engine }: Omit<WorkerStart, 'shared'>, events: CallWorkerEvents) {
    const shared = new SharedArrayBuffer(CALL_SHARED_BYTES)
    this.#signals = new Int32Array(shared)
    const start: WorkerStart = { store, params, engine, shared }
    this.#worker = startThread(new URL('./call-worker.ts', import.meta.url), {
      workerData: start,
      name: 'calls',
      resourceLimits: {
        maxOldGenerationSizeMb: CALL_LIMITS.heapMegabytes,
        maxYoungGenerationSizeMb: CALL_LIMITS.nurseryMegabytes,
      },
    })
    this.#worker.unref()
    this.#worker.on('message', (messages: readonly WorkerMessage[]) => {
      for (const message of messages) this.#receive(message, events)
    })
    const removeLoading = addLoadingThread(() => this.ready)
    let failure: Error | undefined
    this.#worker.on('error', error => {
      failure = error instanceof Error ? error : new Error(String(error))
    })
    this.#worker.on('exit', () => {
      removeLoading()
      if (!this.#stopped) events.died(this, failure)
    })
  }

  get hasRoom(): boolean {
    return this.calls.size < CALL_LIMITS.inFlight
  }

  /** Id of the call being executed now, as far as known. */
  get running(): number {
    return Atomics.load(this.#signals, CALL_RUNNING_JOB)
  }

  send(call: PendingCall): void {
    const { id, kind, request, number, revision, env, overlay } = call
    const job: CallJob = {
      id,
      kind,
      request: transferableRequest(request),
      number,
      revision,
      env: this.#nameEnv(env),
      overlay: overlay === null ? null : this.#nameOverlay(overlay),
    }
    call.attempts++
    call.sentMs = performance.now()
    this.calls.set(id, call)
    this.#worker.ref()
    this.#jobs.add(job)
  }

  cancel(id: number): void {
    this.#worker.postMessage({ cancel: id } satisfies CancelledCall)
  }

  /** Returns true when the worker has work but no heartbeat for a while (base/worker/silence.ts). Must be called regularly. */
  isSilent(nowMs: number): boolean {
    const isIdle = !this.ready || this.calls.size === 0
    const beats = Atomics.load(this.#signals, CALL_HEARTBEAT)
    const usedMs = isIdle ? undefined : threadTimeMs(Atomics.load(this.#signals, CALL_THREAD_ID))
    return this.#silence.isLong({ beats, usedMs }, nowMs, isIdle)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await endWorker(this.#worker, this.ready ? undefined : LOAD_MS)
  }

  #receive(message: WorkerMessage, events: CallWorkerEvents): void {
    if (message.type === 'ready') {
      this.ready = true
      events.ready(this)
      return
    }
    const call = this.calls.get(message.id)
    // The call was moved to another worker, which responds as well.
    if (call === undefined) return
    if (message.type === 'hash') {
      this.#tellHashes(call, message.blocks, events)
      return
    }
    this.#release(call)
    events.settled(this, call, message)
  }

  #release(call: PendingCall): void {
    this.calls.delete(call.id)
    if (this.calls.size > 0) return
    this.idleSinceMs = performance.now()
    this.#worker.unref()
  }

  #tellHashes(call: PendingCall, blocks: readonly SimulatedBlock[], events: CallWorkerEvents): void {
    const tell = (hashes: BlockHashes['hashes']): void => this.#worker.postMessage({ id: call.id, hashes })
    assert(call.hash !== undefined, 'only a simulation requests hashes')
    call.hash(blocks).then(tell, (error: unknown) => {
      tell(null)
      if (this.calls.get(call.id) !== call) return
      this.#release(call)
      call.reject(error)
      events.ready(this)
    })
  }
}
