import type { Hex } from '@tandem/base/bytes.ts'
import type { ChainParams } from '../../config/networks.ts'
import type { BlockEnv } from '../../evm/block-env.ts'
import type { CallRequest } from '../../evm/calls/types.ts'
import type { EngineName } from '../../evm/engines/select-engine.ts'
import type { TraceConfig } from '../../evm/tracers/config.ts'
import type { StoreHandle } from '../../storage/store.ts'

/* Messages between the trace service and its worker. */

/** Committed block with the environment of its transactions; the worker looks up BLOCKHASH itself. */
export interface TraceBlock {
  readonly number: number
  readonly hash: Hex
  readonly env: TraceEnv
}
type TraceEnv = Omit<BlockEnv, 'params' | 'blockHash' | 'stateRoot'>

/** What is traced: a transaction, a block's transactions, or a call after the first `after` of them (undefined: after all). */
type TracedRun =
  | { readonly kind: 'transaction'; readonly index: number }
  | { readonly kind: 'block' }
  | { readonly kind: 'call'; readonly call: CallRequest; readonly after: number | undefined }

export type TraceRequest =
  | (TracedRun & { readonly block: TraceBlock; readonly config: TraceConfig })
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

export interface TraceWorkerData {
  readonly store: StoreHandle
  readonly params: ChainParams
  readonly engine: EngineName
}

/** Methods of the trace worker: sends its result in chunks; the output before a failure is complete JSON, or empty. */
export type TraceMethods = { readonly trace: (request: TraceRequest) => Promise<void> }
