import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { type Cancellation, Cancelled } from '@tandem/base/async/cancellation.ts'
import { ClientBudget } from '@tandem/base/client-budget.ts'
import { type CodedError, isCoded } from '@tandem/base/errors.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { WorkerEnded, WorkerFault } from '@tandem/base/worker/protocol.ts'
import { WorkerPool } from '@tandem/base/worker/worker-pool.ts'
import { CALL_LIMITS } from '../../config/limits/clients.ts'
import type { ChainParams } from '../../config/networks.ts'
import type { StateChanges } from '../../state/update/state-update.ts'
import type { Store } from '../../storage/store.ts'
import type { SerializedEnv } from '../block-env.ts'
import type { CallError } from '../engine.ts'
import type { EngineName } from '../engines/select-engine.ts'
import { requestBytes } from './local-calls.ts'
import { callError } from './message/call-message.ts'
import type { HashBlocks, SimulatedBlock } from './simulate/types.ts'
import type { CallRequest, CallService } from './types.ts'
import {
  type CallKind,
  type CallKinds,
  type CallMethods,
  type CallWorkerData,
  MAX_NAMED_VALUES,
  type NamedValue,
  transferableRequest,
} from './worker/worker-protocol.ts'

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

const TIMED_OUT: CallError = { code: 'EXECUTION_TIMEOUT', timeoutMs: CALL_LIMITS.timeoutMs }
const QUEUE_FULL: CallError = { code: 'CALL_QUEUE_FULL', limit: CALL_LIMITS.queue }
const CLIENT_FULL: CallError = { code: 'CLIENT_QUEUE_FULL', limit: CALL_LIMITS.clientCalls }

const failed = (reason: string): CodedError<CallError> => callError({ code: 'EXECUTION_FAILED', reason })

/** State of a call or a simulation. One object identifies one request, so that environment and changes belong together. */
export type CallState = Pick<CallRequest, 'number' | 'pending'>

/** Numbers large values; a value that a worker already has is sent to it as its number only. */
const createNaming = <Value extends object>() => {
  const ids = new WeakMap<Value, number>()
  const knownBy = new WeakMap<object, Set<number>>()
  let next = 1
  return (worker: object, value: Value): NamedValue<Value> => {
    const id = getOrMake(ids, value, () => next++)
    const known = getOrMake(knownBy, worker, () => new Set())
    if (known.has(id)) return { id }
    known.add(id)
    // The worker adds and drops values in the same order.
    const [oldest] = known
    if (known.size > MAX_NAMED_VALUES && oldest !== undefined) known.delete(oldest)
    return { id, value }
  }
}

/** Sends calls to workers, within the limits of each client. */
class CallDispatcher {
  readonly #options: CallServiceOptions
  readonly #pool: WorkerPool<CallMethods>
  readonly #nameEnv = createNaming<SerializedEnv>()
  readonly #nameOverlay = createNaming<StateChanges>()
  /** Waiting and running calls of each client, counted from their arrival, and their memory. */
  readonly #calls = new ClientBudget({ total: Number.POSITIVE_INFINITY, client: CALL_LIMITS.clientCalls })
  readonly #memory = new ClientBudget({ total: CALL_LIMITS.queueBytes, client: CALL_LIMITS.clientBytes })

  constructor(options: CallServiceOptions) {
    this.#options = options
    const { store, params, engine, logger } = options
    const { heapMegabytes, nurseryMegabytes, stuckMs, blockedMs, inFlight, clientInFlight, queue, batch } = CALL_LIMITS
    this.#pool = new WorkerPool({
      name: 'calls',
      url: new URL('./worker/call-worker.ts', import.meta.url),
      data: (): CallWorkerData => ({ store: store.share(), params, engine }),
      hasStore: true,
      limits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: nurseryMegabytes },
      heartbeat: { everyMs: stuckMs / 30, stuckMs, blockedMs },
      ...{ inFlight, clientInFlight, queue, batch },
      retries: 1,
      dropsRunning: true,
      onEnd: (error, calls) => logger.warn({ err: error, calls }, 'call worker replaced'),
    })
  }

  async run<Kind extends CallKind>(
    kind: Kind,
    request: CallKinds[Kind]['request'],
    client: string,
    cancellation: Cancellation | undefined,
    openHashes?: () => MessagePort,
  ): Promise<CallKinds[Kind]['answer']> {
    const leave = this.#admit(client, requestBytes(request))
    try {
      const isPending = request.pending === true
      const env = await this.#options.envFor(request)
      const overlay = isPending ? await this.#overlay(request) : null
      if (cancellation?.isCancelled === true) throw new Cancelled()
      const job = {
        kind,
        client,
        request: transferableRequest(request),
        number: isPending ? env.number - 1 : request.number,
        revision: this.#options.revision?.() ?? 0,
      }
      return await this.#pool.run({
        name: 'run',
        args: worker => [
          {
            ...job,
            env: this.#nameEnv(worker, env),
            overlay: overlay && this.#nameOverlay(worker, overlay),
            ...(openHashes && { hashes: openHashes() }),
          },
        ],
        ...(openHashes && { transfer: ([{ hashes }]) => [hashes as MessagePort] }),
        client,
        cancellation,
      })
    } catch (error) {
      throw this.#asCallError(kind, error)
    } finally {
      leave()
    }
  }

  /** Runs a simulation, which may ask for the hashes of its blocks. */
  async simulate(
    plan: CallKinds['simulate']['request'],
    client: string,
    hash: HashBlocks,
    cancellation: Cancellation | undefined,
  ): Promise<readonly SimulatedBlock[]> {
    const ports: MessagePort[] = []
    let failure: unknown
    const openHashes = (): MessagePort => {
      const { port1, port2 } = new MessageChannel()
      ports.push(port1)
      port1.on('message', (blocks: readonly SimulatedBlock[]) => {
        const answered = hash(blocks).then(hashes => port1.postMessage(hashes))
        answered.catch((error: unknown) => {
          failure = error
          port1.postMessage(null)
        })
      })
      return port2
    }
    try {
      return await this.run('simulate', plan, client, cancellation, openHashes)
    } catch (error) {
      throw failure ?? error
    } finally {
      for (const port of ports) port.close()
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  /** Throws CLIENT_QUEUE_FULL and CALL_QUEUE_FULL. */
  #admit(client: string, requested: number): () => void {
    // A single request is accepted whatever its size, which is limited on receipt.
    const bytes = Math.min(requested, CALL_LIMITS.clientBytes)
    const calls = this.#calls.meter(client)
    const memory = this.#memory.meter(client)
    const isClientFull = this.#memory.isClientFull(client, bytes)
    if (isClientFull || !calls.hold(1)) throw callError(CLIENT_FULL)
    const leave = (): void => {
      calls.hold(0)
      memory.hold(0)
    }
    if (memory.hold(bytes)) return leave
    leave()
    throw callError(QUEUE_FULL)
  }

  #overlay(request: CallState): Promise<StateChanges> {
    const { overlayFor } = this.#options
    if (overlayFor === undefined) throw failed('there is no pending block')
    return overlayFor(request)
  }

  #asCallError(kind: CallKind, error: unknown): unknown {
    if (error instanceof WorkerEnded)
      return error.silentMs === undefined ? failed('call worker died') : callError(TIMED_OUT)
    if (error instanceof WorkerFault) {
      this.#options.logger.error({ kind, fault: error.message }, 'call failed')
      return failed('internal error')
    }
    if (!isCoded(error)) return error
    if (error.code === 'WORKER_QUEUE_FULL') return callError(QUEUE_FULL)
    return error.code === 'WORKER_CLOSED' ? failed('the node is stopping') : error
  }
}

/** Creates the service of calls in a worker thread, started at the first call; bounded in number, gas and time. */
export const createCallService = (options: CallServiceOptions): CallService => {
  const dispatcher = new CallDispatcher(options)
  return {
    call: (request, client, cancellation) => dispatcher.run('call', request, client, cancellation),
    estimateGas: (request, client, cancellation) => dispatcher.run('estimateGas', request, client, cancellation),
    createAccessList: (request, client, cancellation) =>
      dispatcher.run('createAccessList', request, client, cancellation),
    simulate: (plan, client, hash, cancellation) => dispatcher.simulate(plan, client, hash, cancellation),
    close: () => dispatcher.close(),
  }
}
