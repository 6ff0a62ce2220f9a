import type { ChainParams } from '../../config/networks.ts'
import type { StateChanges } from '../../state/update/state-changes.ts'
import { copyBytes, type Hex, ZERO_HASH } from '../../util/bytes.ts'
import type { BlockEnv } from '../block-env.ts'
import type { EngineName } from '../engines/select-engine.ts'
import type { SimulatedBlock, SimulationPlan } from '../simulate/types.ts'
import type {
  AccessListResult,
  AccountOverride,
  CallError,
  CallMessage,
  CallRequest,
  CallResult,
  StateOverrides,
} from './types.ts'

/* What the call service and its workers say to each other. */

/** A BlockEnv that can cross a thread: no functions, no params. */
export interface SerializedEnv extends Omit<BlockEnv, 'params' | 'blockHash' | 'stateRoot'> {
  /** Hashes of number - 1, number - 2, ... as far as known, at most 256. */
  readonly recentHashes: readonly Hex[]
}

export const envFromSerialized = (env: SerializedEnv, params: ChainParams): BlockEnv => ({
  ...env,
  params,
  blockHash: number => env.recentHashes[env.number - 1 - number] ?? ZERO_HASH,
})

/** What a worker does: what it is asked with, and what it answers. */
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

/** The request with bytes of its own: their views would take tens of kilobytes along with each. */
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
  readonly storePath: string
  readonly params: ChainParams
  readonly evm: EngineName
  readonly shared: SharedArrayBuffer
}

/** Members of the shared memory (Int32Array): which job runs, and a counter that moves while the worker is alive. */
export const CALL_RUNNING_JOB = 0
export const CALL_HEARTBEAT = 1
export const CALL_SHARED_BYTES = 8

/** What is large and the same for many jobs is sent once and named by its id afterwards. */
export interface NamedValue<T> {
  readonly id: number
  /** undefined: the worker has it. */
  readonly value?: T
}

/** How many named values a worker remembers; the service forgets in the same order. */
export const MAX_NAMED_VALUES = 4

export interface CallJob {
  readonly id: number
  readonly kind: CallKind
  readonly request: CallJobRequest
  /** The block whose state lies under the call. */
  readonly number: number
  /** Moves when states that were readable before are others now. */
  readonly revision: number
  readonly env: NamedValue<SerializedEnv>
  readonly overlay: NamedValue<StateChanges> | null
}

/** Hashes of simulated blocks that a worker asked for; null: they are not to be had, and its answer is not waited for any more. */
export interface BlockHashes {
  readonly id: number
  readonly hashes: readonly Hex[] | null
}

/** A call whose answer is not wanted any more. */
export interface CancelledCall {
  readonly cancel: number
}

export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'answer'; readonly id: number; readonly answer: CallAnswer }
  /** The hashes of these simulated blocks, please: answered by BlockHashes. */
  | { readonly type: 'hash'; readonly id: number; readonly blocks: readonly SimulatedBlock[] }
  | { readonly type: 'refusal'; readonly id: number; readonly detail: CallError }
  /** Something that is no CallError: told to the log, the caller gets EXECUTION_FAILED. */
  | { readonly type: 'fault'; readonly id: number; readonly message: string }
