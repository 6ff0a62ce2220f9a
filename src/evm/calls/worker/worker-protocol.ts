import type { MessagePort } from 'node:worker_threads'
import { copyBytes, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { ChainParams } from '../../../config/networks.ts'
import type { StateChanges } from '../../../state/update/state-update.ts'
import type { Store, StoreHandle } from '../../../storage/store.ts'
import { type BlockEnv, type SerializedEnv, storedBlockHash } from '../../block-env.ts'
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

const portableMessage = (message: CallMessage): CallMessage => ({ ...message, data: copyBytes(message.data) })

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
  const { overrides, message } = request
  return {
    ...request,
    message: portableMessage(message),
    ...(overrides && { overrides: portableOverrides(overrides) }),
  }
}

export interface CallWorkerData {
  readonly store: StoreHandle
  readonly params: ChainParams
  readonly engine: EngineName
}

/** Large value shared by many jobs: sent to a worker once and then referred to by its id. */
export interface NamedValue<T> {
  readonly id: number
  /** undefined: the worker has it already. */
  readonly value?: T
}

/** Number of named values a worker keeps; the service drops them in the same order. */
export const MAX_NAMED_VALUES = 4

export interface CallJob {
  readonly kind: CallKind
  /** Client whose turn its slices take. */
  readonly client: string
  readonly request: CallJobRequest
  /** Block whose state is the base of the call. */
  readonly number: number
  /** Grows when states that were readable before have changed. */
  readonly revision: number
  readonly env: NamedValue<SerializedEnv>
  readonly overlay: NamedValue<StateChanges> | null
  /** Port of a simulation: takes simulated blocks and gives their hashes, or null when they are not available. */
  readonly hashes?: MessagePort
}

/** Methods of the call worker. Rejects with CodedError<CallError>. */
export type CallMethods = { readonly run: (job: CallJob) => Promise<CallAnswer> }
