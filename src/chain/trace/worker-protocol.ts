import type { ChainParams } from '../../config/networks.ts'
import type { BlockEnv } from '../../evm/block-env.ts'
import type { CallRequest } from '../../evm/calls/types.ts'
import type { TraceConfig } from '../../evm/tracers/config.ts'
import type { Hex } from '../../util/bytes.ts'

/* Messages between the trace service and its worker. */

/** Committed block with the environment of its transactions; the worker looks up BLOCKHASH itself. */
export interface TraceBlock {
  readonly number: number
  readonly hash: Hex
  readonly env: TraceEnv
}
type TraceEnv = Omit<BlockEnv, 'params' | 'blockHash' | 'stateRoot'>

export type TraceRequest =
  | {
      readonly kind: 'transaction'
      readonly block: TraceBlock
      readonly index: number
      readonly config: TraceConfig
    }
  | { readonly kind: 'block'; readonly block: TraceBlock; readonly config: TraceConfig }
  | {
      readonly kind: 'call'
      readonly block: TraceBlock
      readonly call: CallRequest
      /** Number of the block's transactions before the call; undefined: all of them. */
      readonly after: number | undefined
      readonly config: TraceConfig
    }
  | StorageRangeRequest
  | AccountRangeRequest
  | ModifiedAccountsRequest

/** Slots of an account between a block's transactions, from a hashed slot on. */
export interface StorageRangeRequest {
  readonly kind: 'storageRange'
  readonly block: TraceBlock
  /** Number of the block's transactions before. */
  readonly after: number
  readonly address: Hex
  readonly start: Hex
  readonly limit: number
}

/** Accounts after a block, from a hashed address on. */
export interface AccountRangeRequest {
  readonly kind: 'accountRange'
  readonly block: Omit<TraceBlock, 'env'>
  readonly stateRoot: Hex
  readonly start: Hex
  readonly limit: number
  readonly withCode: boolean
  readonly withStorage: boolean
  /** Includes accounts whose address is unknown. */
  readonly incompletes: boolean
}

/** Accounts that differ between the state before the first block and that after the last. */
export interface ModifiedAccountsRequest {
  readonly kind: 'modifiedAccounts'
  readonly blocks: readonly TraceBlock[]
  /** Addresses that the blocks credit outside their transactions. */
  readonly credited: readonly Hex[]
}

export interface TraceWorkerStart {
  readonly storePath: string
  readonly params: ChainParams
  readonly shared: SharedArrayBuffer
}

/** Index of the heartbeat, the only member of the shared memory (Int32Array): it grows while the worker is alive. */
export const TRACE_HEARTBEAT = 0
export const TRACE_SHARED_BYTES = 4

export type ToTraceWorker =
  | { readonly type: 'job'; readonly id: number; readonly request: TraceRequest }
  /** The reader has taken a piece: another one may be sent. */
  | { readonly type: 'credit'; readonly id: number }
  | { readonly type: 'cancel'; readonly id: number }

export type FromTraceWorker =
  | { readonly type: 'chunk'; readonly id: number; readonly chunk: Uint8Array }
  | { readonly type: 'done'; readonly id: number }
  /** Expected failures; the output so far is complete JSON, or empty. */
  | { readonly type: 'failed'; readonly id: number; readonly detail: { readonly code: string } }
  /** Unexpected errors, which are logged. */
  | { readonly type: 'fault'; readonly id: number; readonly message: string }
