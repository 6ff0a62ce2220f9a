import type { ChainParams } from '../../config/networks.ts'
import type { BlockEnv } from '../../evm/block-env.ts'
import type { CallRequest } from '../../evm/calls/types.ts'
import type { TraceConfig } from '../../evm/tracers/config.ts'
import type { Hex } from '../../util/bytes.ts'

/* What the trace service and its worker say to each other. */

/** A committed block, and what its transactions saw; BLOCKHASH the worker looks up itself. */
export interface TraceBlock {
  readonly number: number
  readonly hash: Hex
  readonly env: TraceEnv
}
export type TraceEnv = Omit<BlockEnv, 'params' | 'blockHash' | 'stateRoot'>

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
      /** Transactions of the block that come before the call; undefined: all of them. */
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
  /** Transactions of the block that come before. */
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
  /** Also those whose address is not known. */
  readonly incompletes: boolean
}

/** Accounts that differ between the state before the first block and that after the last. */
export interface ModifiedAccountsRequest {
  readonly kind: 'modifiedAccounts'
  readonly blocks: readonly TraceBlock[]
  /** Whom the blocks credit besides their transactions. */
  readonly credited: readonly Hex[]
}

export interface TraceWorkerStart {
  readonly storePath: string
  readonly params: ChainParams
  readonly shared: SharedArrayBuffer
}

/** The one member of the shared memory (Int32Array): moves while the worker is alive. */
export const TRACE_HEARTBEAT = 0
export const TRACE_SHARED_BYTES = 4

export type ToTraceWorker =
  | { readonly type: 'job'; readonly id: number; readonly request: TraceRequest }
  /** A piece has been taken: another one may come. */
  | { readonly type: 'credit'; readonly id: number }
  | { readonly type: 'cancel'; readonly id: number }

export type FromTraceWorker =
  | { readonly type: 'chunk'; readonly id: number; readonly chunk: Uint8Array }
  | { readonly type: 'done'; readonly id: number }
  /** Expected failures; what came before is JSON that ends properly, or nothing. */
  | { readonly type: 'failed'; readonly id: number; readonly detail: { readonly code: string } }
  /** Something nobody expected: told to the log. */
  | { readonly type: 'fault'; readonly id: number; readonly message: string }
