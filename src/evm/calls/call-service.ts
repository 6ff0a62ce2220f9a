import { type Cancellation, Cancelled } from '@tandem/base/async/cancellation.ts'
import { FairQueue } from '@tandem/base/async/fair-queue.ts'
import { ClientBudget } from '@tandem/base/client-budget.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { CALL_LIMITS } from '../../config/limits/clients.ts'
import type { ChainParams } from '../../config/networks.ts'
import type { StateChanges } from '../../state/update/state-update.ts'
import type { Store } from '../../storage/store.ts'
import type { SerializedEnv } from '../block-env.ts'
import type { CallError } from '../engine.ts'
import type { EngineName } from '../engines/select-engine.ts'
import { requestBytes } from './local-calls.ts'
import type { HashBlocks } from './simulate/types.ts'
import type { CallRequest, CallService } from './types.ts'
import { type CallWorkerEvents, CallWorkerHandle, type PendingCall } from './worker/worker-handle.ts'
import type { CallAnswer, CallJobRequest, CallKind, CallKinds, WorkerMessage } from './worker/worker-protocol.ts'

interface CallServiceOptions {
  /** Opened by each worker as well. */
  readonly store: Pick<Store, 'share'>
  readonly params: ChainParams
  readonly engine: EngineName
  readonly logger: Logger
  /** Returns the environment of a call after `request.number`, or the pending block's: the same object while unchanged, sent once. */
  envFor(request: CallState): Promise<SerializedEnv>
  /** Returns the pending block's changes, for requests with `pending`; the same object while they are unchanged. */
  overlayFor?(request: CallState): Promise<StateChanges>
  /** Grows when a development chain reverted blocks or edited its state, which invalidates the workers' caches. */
  revision?(): number
}

const MAX_WORKERS = CALL_LIMITS.workers + CALL_LIMITS.extraWorkers
/** A call whose worker died is tried once more. */
const MAX_ATTEMPTS = 2

const TIMED_OUT: CallError = { code: 'EXECUTION_TIMEOUT', timeoutMs: CALL_LIMITS.timeoutMs }
const QUEUE_FULL: CallError = { code: 'CALL_QUEUE_FULL', limit: CALL_LIMITS.queue }
const CLIENT_FULL: CallError = { code: 'CLIENT_QUEUE_FULL', limit: CALL_LIMITS.clientCalls }
const failed = (reason: string): CallError => ({ code: 'EXECUTION_FAILED', reason })

interface CallTerms {
  readonly hash?: HashBlocks
  readonly cancellation?: Cancellation | undefined
}

/** State of a call or a simulation. One object identifies one request, so that environment and changes belong together. */
export type CallState = Pick<CallRequest, 'number' | 'pending'>

/** Dispatches calls to workers, monitors them, and moves calls away from one that hangs or dies. */
class CallDispatcher {
  readonly #options: CallServiceOptions
  readonly #queue = new FairQueue<PendingCall>({ total: CALL_LIMITS.queue, displaces: true })
  readonly #workers = new Set<CallWorkerHandle>()
  readonly #silent = new Set<CallWorkerHandle>()
  readonly #events: CallWorkerEvents
  #watch: NodeJS.Timeout | undefined = undefined
  #nextId = 1
  /** Waiting and running calls of each client, counted from their arrival, and their memory. */
  readonly #calls = new ClientBudget({ total: Number.POSITIVE_INFINITY, client: CALL_LIMITS.clientCalls })
  readonly #memory = new ClientBudget({ total: CALL_LIMITS.queueBytes, client: CALL_LIMITS.clientBytes })
  #closed = false

  constructor(options: CallServiceOptions) {
    this.#options = options
    this.#events = {
      ready: () => this.#dispatch(),
      settled: (_, call, message) => this.#settle(call, message),
      died: (worker, error) => this.#lost(worker, failed('call worker died'), error),
    }
  }

  async run<Kind extends CallKind>(
    kind: Kind,
    request: CallKinds[Kind]['request'],
    client: string,
    terms: CallTerms = {},
  ): Promise<CallKinds[Kind]['answer']> {
    const leave = this.#admit(client, requestBytes(request))
    try {
      return await this.#runNext(kind, request, client, terms)
    } finally {
      leave()
    }
  }

  /** Throws CLIENT_QUEUE_FULL and CALL_QUEUE_FULL. */
  #admit(client: string, requested: number): () => void {
    // A single request is accepted whatever its size, which is limited on receipt.
    const bytes = Math.min(requested, CALL_LIMITS.clientBytes)
    const calls = this.#calls.meter(client)
    const memory = this.#memory.meter(client)
    const isClientFull = this.#memory.isClientFull(client, bytes)
    if (isClientFull || !calls.hold(1)) throw new CodedError(CLIENT_FULL)
    const leave = (): void => {
      calls.hold(0)
      memory.hold(0)
    }
    if (memory.hold(bytes)) return leave
    leave()
    throw new CodedError(QUEUE_FULL)
  }

  async #runNext(
    kind: CallKind,
    request: CallJobRequest,
    client: string,
    { hash, cancellation }: CallTerms,
  ): Promise<CallAnswer> {
    const env = await this.#options.envFor(request)
    const overlay = request.pending === true ? await this.#overlay(request) : null
    const number = request.pending === true ? env.number - 1 : request.number
    if (cancellation?.isCancelled === true) throw new Cancelled()
    const { promise, resolve, reject } = Promise.withResolvers<CallAnswer>()
    const call: PendingCall = {
      id: this.#takeId(),
      client,
      kind,
      request,
      number,
      revision: this.#options.revision?.() ?? 0,
      env,
      overlay,
      attempts: 0,
      sentMs: 0,
      resolve,
      refuse: detail => reject(new CodedError(detail)),
      reject,
      ...(hash && { hash }),
    }
    this.#enqueue(call)
    this.#dispatch()
    const forget = cancellation?.onCancel(() => this.#cancel(call))
    return promise.finally(forget)
  }

  /** A running call ends as timed out, and keeps its slot until then. */
  #cancel(call: PendingCall): void {
    if (this.#queue.remove(call.client, call)) call.reject(new Cancelled())
    else for (const worker of this.#workers) if (worker.calls.has(call.id)) worker.cancel(call.id)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#watch)
    const stopping = failed('the node is stopping')
    for (const worker of this.#workers) for (const call of worker.calls.values()) call.refuse(stopping)
    for (const call of this.#queue.takeAll()) call.refuse(stopping)
    await Promise.all([...this.#workers].map(worker => worker.stop()))
    this.#workers.clear()
  }

  #overlay(request: CallState): Promise<StateChanges> {
    const { overlayFor } = this.#options
    if (overlayFor === undefined) throw new CodedError(failed('there is no pending block'))
    return overlayFor(request)
  }

  #takeId(): number {
    const id = this.#nextId
    // Ids must fit the 32-bit shared memory.
    this.#nextId = id === 0x7fff_ffff ? 1 : id + 1
    return id
  }

  #enqueue(call: PendingCall): void {
    if (this.#closed) {
      call.refuse(failed('the node is stopping'))
      return
    }
    this.#queue.push(call.client, call)?.item.refuse(QUEUE_FULL)
  }

  #dispatch(): void {
    while (this.#queue.size > 0) {
      const worker = this.#freeWorker()
      if (worker === undefined) break
      const next = this.#queue.shift(client => this.#mayRun(client))
      if (next === undefined) break
      worker.send(next.item)
    }
    if (this.#workers.size > 0) this.#startWatch()
  }

  /** Slow calls of one client leave slots for others. */
  #mayRun(client: string): boolean {
    const limit = CALL_LIMITS.clientInFlight
    if (this.#calls.heldBy(client) <= limit) return true
    let running = 0
    for (const { calls } of this.#workers) for (const call of calls.values()) if (call.client === client) running++
    return running < limit
  }

  /** Returns the least loaded responsive worker; starts another one when none responds. */
  #freeWorker(): CallWorkerHandle | undefined {
    let best: CallWorkerHandle | undefined
    for (const worker of this.#workers) {
      if (this.#silent.has(worker) || !worker.hasRoom) continue
      if (best === undefined || worker.calls.size < best.calls.size) best = worker
    }
    return best ?? (this.#mayStart() ? this.#start() : undefined)
  }

  #mayStart(): boolean {
    if (this.#closed || this.#workers.size >= MAX_WORKERS) return false
    return this.#workers.size < CALL_LIMITS.workers || this.#silent.size === this.#workers.size
  }

  #start(): CallWorkerHandle {
    const { store, params, engine } = this.#options
    const worker = new CallWorkerHandle({ store: store.share(), params, engine }, this.#events)
    this.#workers.add(worker)
    return worker
  }

  #settle(call: PendingCall, message: WorkerMessage): void {
    if (message.type === 'answer') call.resolve(message.answer)
    else if (message.type === 'refusal') call.refuse(message.detail)
    else if (message.type === 'fault') {
      this.#options.logger.error({ kind: call.kind, fault: message.message }, 'call failed')
      call.refuse(failed('internal error'))
    }
    this.#dispatch()
  }

  #startWatch(): void {
    if (this.#watch !== undefined || this.#closed) return
    this.#watch = setInterval(() => this.#look(), CALL_LIMITS.stuckMs / 2).unref()
  }

  #look(): void {
    const nowMs = performance.now()
    for (const worker of this.#workers) {
      if (worker.isSilent(nowMs)) this.#silent.add(worker)
      else this.#silent.delete(worker)
      if (isOverdue(worker, nowMs, this.#silent.has(worker))) {
        this.#lost(worker, TIMED_OUT, undefined)
        worker.stop().catch(() => {})
      } else if (this.#silent.has(worker)) this.#moveWaiting(worker)
    }
    this.#dispatch()
    this.#stopIdle(nowMs)
  }

  /** Moves the calls that a hanging worker is not executing to another worker, if there is one. */
  #moveWaiting(worker: CallWorkerHandle): void {
    for (const call of [...worker.calls.values()]) {
      if (call.id === worker.running || this.#freeWorker() === undefined) continue
      worker.calls.delete(call.id)
      worker.cancel(call.id)
      call.id = this.#takeId()
      call.attempts--
      this.#enqueue(call)
    }
  }

  /** Handles a lost worker: its current call is refused, the others are tried elsewhere. */
  #lost(worker: CallWorkerHandle, detail: CallError, error: Error | undefined): void {
    this.#workers.delete(worker)
    this.#silent.delete(worker)
    this.#options.logger.warn({ err: error, calls: worker.calls.size, reason: detail.code }, 'call worker replaced')
    for (const call of worker.calls.values()) {
      if (call.id === worker.running || call.attempts >= MAX_ATTEMPTS) call.refuse(detail)
      else this.#enqueue(call)
    }
    worker.calls.clear()
    this.#dispatch()
  }

  #stopIdle(nowMs: number): void {
    for (const worker of this.#workers) {
      if (this.#workers.size <= CALL_LIMITS.workers) break
      if (worker.calls.size > 0 || nowMs - worker.idleSinceMs < CALL_LIMITS.idleWorkerMs) continue
      this.#workers.delete(worker)
      worker.stop().catch(() => {})
    }
    const busy = [...this.#workers].some(worker => worker.calls.size > 0)
    if (busy || this.#queue.size > 0 || this.#workers.size > CALL_LIMITS.workers) return
    clearInterval(this.#watch)
    this.#watch = undefined
  }
}

/** A worker ends its calls in time, as soon as it gets a processor; only one that hangs does not. */
const isOverdue = (worker: CallWorkerHandle, nowMs: number, isSilent: boolean): boolean => {
  const longestMs = CALL_LIMITS.timeoutMs + (isSilent ? CALL_LIMITS.graceMs : CALL_LIMITS.starvedMs)
  for (const call of worker.calls.values()) if (nowMs - call.sentMs > longestMs) return true
  return false
}

/** Creates the service of calls in worker threads, started at the first call; bounded in number, gas and time. */
export const createCallService = (options: CallServiceOptions): CallService => {
  const dispatcher = new CallDispatcher(options)
  return {
    call: (request, client, cancellation) => dispatcher.run('call', request, client, { cancellation }),
    estimateGas: (request, client, cancellation) => dispatcher.run('estimateGas', request, client, { cancellation }),
    createAccessList: (request, client, cancellation) =>
      dispatcher.run('createAccessList', request, client, { cancellation }),
    simulate: (plan, client, hash, cancellation) => dispatcher.run('simulate', plan, client, { hash, cancellation }),
    close: () => dispatcher.close(),
  }
}
