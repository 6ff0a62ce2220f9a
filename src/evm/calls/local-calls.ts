import { type Cancellation, Cancelled } from '@tandem/base/async/cancellation.ts'
import { FairSemaphore } from '@tandem/base/async/fair-semaphore.ts'
import { asBuffer } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { Lru } from '@tandem/base/lru.ts'
import { CALL_LIMITS } from '../../config/limits/clients.ts'
import type { StateReader } from '../../state/state-reader.ts'
import type { BlockEnv } from '../block-env.ts'
import type { Engine, Interrupt } from '../engine.ts'
import type { CallMessage, StateOverrides } from './message/call-args.ts'
import type { CallContext } from './message/call-message.ts'
import { call, createAccessList, estimateGas } from './run-call.ts'
import type { CallRequest, CallService } from './types.ts'
import type { CallJobRequest } from './worker/worker-protocol.ts'

/** Calls that outran the main thread's bound. The next like them, and of their client, start in a worker, to do no work twice. */
export class Outruns {
  /** Number of calls that still skip the main thread, by kind of call or client. */
  readonly #skips = new Lru<string, number>(CALL_LIMITS.local.remembered)
  /** Recent outruns per client. */
  readonly #clients = new Lru<string, number>(CALL_LIMITS.local.remembered)

  /** Returns true when a call of this kind, or of this client, is to start in a worker. */
  skips(kind: string, client: string): boolean {
    return this.#takeSkip(kind) || this.#takeSkip(clientKey(client))
  }

  /** Records that a call outran its bound. */
  add(kind: string, client: string): void {
    this.#skips.set(kind, CALL_LIMITS.local.skips)
    const count = (this.#clients.get(client) ?? 0) + 1
    this.#clients.set(client, count)
    if (count < CALL_LIMITS.local.clientOutruns) return
    this.#clients.delete(client)
    this.#skips.set(clientKey(client), CALL_LIMITS.local.skips)
  }

  #takeSkip(key: string): boolean {
    const left = this.#skips.peek(key)
    if (left === undefined) return false
    if (left === 1) this.#skips.delete(key)
    else this.#skips.set(key, left - 1)
    return true
  }
}

const clientKey = (client: string): string => `client ${client}`

const FULL = new Error('too many calls wait')

/** Turns of calls on the main thread, clients in rotation: those of one turn get CALL_LIMITS.local.turnMs, later ones wait for the next. */
export class LocalTurns {
  readonly #semaphore = new FairSemaphore(
    { total: 1, client: 1, queue: CALL_LIMITS.local.queue, displaces: true },
    () => FULL,
  )
  #spentMs = 0
  #nextTurn: Promise<void> | undefined

  /** Runs `work` in its turn; returns undefined without running it when too many calls wait. */
  async run<Result extends object>(client: string, work: () => Promise<Result>): Promise<Result | undefined> {
    const release = this.#semaphore.tryAcquire(client) ?? (await this.#semaphore.acquire(client).catch(() => undefined))
    if (release === undefined) return undefined
    if (this.#spentMs >= CALL_LIMITS.local.turnMs) await this.#nextTurn
    const startedMs = performance.now()
    try {
      return await work()
    } finally {
      this.#spentMs += performance.now() - startedMs
      this.#nextTurn ??= new Promise(resolve =>
        setImmediate(() => {
          this.#nextTurn = undefined
          this.#spentMs = 0
          resolve()
        }),
      )
      release()
    }
  }
}

/** State of a call in this thread. */
export interface LocalState {
  readonly reader: StateReader
  readonly env: BlockEnv
  /** false: the state has changed meanwhile. */
  stands(): boolean
}

interface LocalBound {
  /** Gas that all runs of a call execute together. */
  readonly gas: bigint
  /** Gas that all runs of an access list execute together; 0: none starts here. */
  readonly listGas: bigint
  readonly ms: number
}

interface LocalCallsOptions {
  /** Returns undefined when this thread does not hold the state. */
  stateFor(request: CallRequest): Promise<LocalState | undefined>
  /** For all other calls. */
  readonly workers: CallService
  engine(): Promise<Engine>
  readonly bound: LocalBound
}

type Run<Answer> = (context: CallContext, request: CallRequest) => Promise<Answer>
type There<Answer> = (request: CallRequest, client: string, cancellation?: Cancellation) => Promise<Answer>

/** End of a run in this thread. Without a result the call runs in a worker. */
interface LocalEnd<Answer> {
  readonly answer?: Answer
  /** The call executed more than its bound. */
  readonly outran?: boolean
}

/** Starts small calls on the head here, in turns (`LocalTurns`). One over the bound, or with this thread busy, runs in a worker from its start. */
export const createLocalCalls = ({ stateFor, workers, engine, bound }: LocalCallsOptions): CallService => {
  const turns = new LocalTurns()
  const outruns = new Outruns()

  const runHere = async <Answer>(
    run: Run<Answer>,
    request: CallRequest,
    { reader, env, stands }: LocalState,
    gas: bigint,
  ): Promise<LocalEnd<Answer>> => {
    const interrupt = shortly(bound.ms)
    const context = { reader, prefetch: undefined, env, engine: await engine(), interrupt, executed: { left: gas } }
    try {
      const answer = await run(context, request)
      return stands() ? { answer } : {}
    } catch (error) {
      if (isOutrun(error)) return { outran: true }
      if (stands()) throw error
      return {}
    }
  }

  const localFirst =
    <Answer>(name: string, run: Run<Answer>, there: There<Answer>, gas: bigint): There<Answer> =>
    async (request, client, cancellation) => {
      const kind = kindOf(name, request)
      if (!isSmall(request) || outruns.skips(kind, client)) return there(request, client, cancellation)
      const state = await stateFor(request)
      if (state === undefined) return there(request, client, cancellation)
      const end = await turns.run(client, async () => {
        if (cancellation?.isCancelled === true) throw new Cancelled()
        return runHere(run, request, state, gas)
      })
      if (end?.answer !== undefined) return end.answer
      if (end?.outran) outruns.add(kind, client)
      return there(request, client, cancellation)
    }

  return {
    call: localFirst('call', call, workers.call, bound.gas),
    estimateGas: localFirst('estimate', estimateGas, workers.estimateGas, bound.gas),
    createAccessList:
      bound.listGas === 0n
        ? workers.createAccessList
        : localFirst('list', createAccessList, workers.createAccessList, bound.listGas),
    simulate: workers.simulate,
    close: workers.close,
  }
}

/** Calls with the same target and selector are likely to execute the same amount. */
const kindOf = (name: string, { message: { to, data } }: CallRequest): string =>
  `${name} ${to} ${asBuffer(data.subarray(0, 4)).hexSlice()}`

/** The work before the code is bounded by the request's size. Authorizations need signatures recovered, and overrides may be many. */
const isSmall = (request: CallRequest): boolean =>
  requestBytes(request) <= CALL_LIMITS.local.requestBytes &&
  request.message.authorizationList === undefined &&
  request.overrides === undefined

const isOutrun = (error: unknown): boolean =>
  isCoded(error) && (error.code === 'GAS_BOUND_EXCEEDED' || error.code === 'EXECUTION_INTERRUPTED')

/** Checks the clock in short steps, without yielding in between. */
const shortly = (ms: number): Interrupt => {
  const endMs = performance.now() + ms
  return {
    sliceMs: ms / 10,
    giveWay: async () => {},
    shouldStop: () => performance.now() >= endMs,
  }
}

/** Memory of a slot, a key or an account besides its bytes. */
const ENTRY_BYTES = 256

const slotsOf = (slots: object | undefined): number => (slots === undefined ? 0 : Object.keys(slots).length)

const messageWeight = ({ data, accessList = [] }: CallMessage): number => {
  let bytes = ENTRY_BYTES + data.byteLength
  for (const { storageKeys } of accessList) bytes += ENTRY_BYTES * (1 + storageKeys.length)
  return bytes
}

const overridesWeight = (overrides: StateOverrides): number => {
  let bytes = 0
  for (const { code, state, stateDiff } of Object.values(overrides))
    bytes += ENTRY_BYTES * (1 + slotsOf(state) + slotsOf(stateDiff)) + (code?.byteLength ?? 0)
  return bytes
}

/** Approximate memory of a waiting request. */
export const requestBytes = (request: CallJobRequest): number => {
  if (!('blocks' in request)) return messageWeight(request.message) + overridesWeight(request.overrides ?? {})
  let bytes = 0
  for (const { state, calls } of request.blocks) {
    bytes += ENTRY_BYTES + overridesWeight(state)
    for (const call of calls) bytes += messageWeight(call)
  }
  return bytes
}
