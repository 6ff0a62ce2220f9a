import { copyBytes, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { ChainParams } from '../../../config/networks.ts'
import type { StateChanges } from '../../../state/update/state-update.ts'
import type { Store, StoreHandle } from '../../../storage/store.ts'
import { type BlockEnv, type SerializedEnv, storedBlockHash } from '../../block-env.ts'
import type { CallError } from '../../engine.ts'
import type { EngineName } from '../../engines/select-engine.ts'
import type { AccountOverride, CallMessage, StateOverrides } from '../message/call-args.ts'
import type { SimulatedBlock, SimulationPlan } from '../simulate/types.ts'
import type { AccessListResult, CallRequest, CallResult } from '../types.ts'

/* Messages between the call service and its workers. */

export const envFromSerialized = (env: SerializedEnv, params: ChainParams, store: Store): BlockEnv => ({
  ...env,
  params,
  blockHash(number) {
    if (number >= env.number - 1) return [env.parentHash, env.hash][number - env.number + 1] ?? ZERO_HASH
    return storedBlockHash(store, number) ?? ZERO_HASH
  },
})

/** Kinds of jobs with their requests and results. */
export interface CallKinds {
  call: { request: CallRequest; answer: CallResult }
  estimateGas: { request: CallRequest; answer: bigint }
  createAccessList: { request: CallRequest; answer: AccessListResult }
  simulate: { request: SimulationPlan; answer: readonly SimulatedBlock[] }
}
export type CallKind = keyof CallKinds
export type CallJobRequest = CallKinds[CallKind]['request']
export type CallAnswer = CallKinds[CallKind]['answer']

const portableMessage = (message: CallMessage): CallMessage => {
  const data = copyBytes(message.data)
  return data === message.data ? message : { ...message, data }
}

const portableOverrides = (overrides: StateOverrides): StateOverrides => {
  const own: Record<Hex, AccountOverride> = {}
  for (const [address, override] of Object.entries(overrides) as [Hex, AccountOverride][])
    own[address] = override.code === undefined ? override : { ...override, code: copyBytes(override.code) }
  return own
}

/** Copies the request's bytes: views would transfer tens of kilobytes with each. */
export const transferableRequest = (request: CallJobRequest): CallJobRequest => {
  if ('blocks' in request) {
    const blocks = request.blocks.map(block => ({
      ...block,
      state: portableOverrides(block.state),
      calls: block.calls.map(portableMessage),
    }))
    return { ...request, blocks }
  }
  const message = portableMessage(request.message)
  const { overrides } = request
  return overrides === undefined
    ? { ...request, message }
    : { ...request, message, overrides: portableOverrides(overrides) }
}

export interface WorkerStart {
  readonly store: StoreHandle
  readonly params: ChainParams
  readonly engine: EngineName
  readonly shared: SharedArrayBuffer
}

/** Indexes in shared memory (Int32Array): running job, counter that grows while alive, id of the thread (base/worker/thread-time.ts). */
export const CALL_RUNNING_JOB = 0
export const CALL_HEARTBEAT = 1
export const CALL_THREAD_ID = 2
export const CALL_SHARED_BYTES = 12

/** Large value shared by many jobs: sent once and then referred to by its id. */
export interface NamedValue<T> {
  readonly id: number
  /** undefined: the worker has it already. */
  readonly value?: T
}

/** Number of named values a worker keeps; the service drops them in the same order. */
export const MAX_NAMED_VALUES = 4

export interface CallJob {
  readonly id: number
  readonly kind: CallKind
  readonly request: CallJobRequest
  /** Block whose state is the base of the call. */
  readonly number: number
  /** Grows when states that were readable before have changed. */
  readonly revision: number
  readonly env: NamedValue<SerializedEnv>
  readonly overlay: NamedValue<StateChanges> | null
}

/** Hashes of simulated blocks that a worker requested; null: not available, and the worker's result is no longer awaited. */
export interface BlockHashes {
  readonly id: number
  readonly hashes: readonly Hex[] | null
}

/** Cancellation of a call. */
export interface CancelledCall {
  readonly cancel: number
}

export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'answer'; readonly id: number; readonly answer: CallAnswer }
  /** Request for the hashes of these simulated blocks: answered by BlockHashes. */
  | { readonly type: 'hash'; readonly id: number; readonly blocks: readonly SimulatedBlock[] }
  | { readonly type: 'refusal'; readonly id: number; readonly detail: CallError }
  /** Error other than a CallError: logged, and the caller gets EXECUTION_FAILED. */
  | { readonly type: 'fault'; readonly id: number; readonly message: string }
