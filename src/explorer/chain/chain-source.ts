import type { Hex } from '@tandem/base/bytes.ts'
import type { BlockStore } from '../../chain/store/block-store.ts'
import type { IncludedReceipt, LogEntry, LogQuery, TransactionLocation } from '../../chain/types.ts'
import type { ChainParams } from '../../config/networks.ts'
import type { FailedExecution } from '../../primitives/receipt/failed-execution.ts'
import type { AsyncStateReader } from '../../state/state-reader.ts'
import type { ContractCall } from '../indexer/contract-calls.ts'
import type { BlockRecord } from '../store/records.ts'

/** Reads of single blocks; undefined for those that the node does not have. */
export type BlockReads = Pick<BlockStore, 'numberOf' | 'header' | 'block' | 'certificate' | 'locate'>

/** Limits of a search for logs. */
export interface LogSearchLimits {
  readonly results: number
  readonly timeoutMs: number
  readonly nowMs: () => number
}

/** The committed chain as the explorer reads it: from the database of its node, or from a node elsewhere. */
export interface ChainSource {
  readonly params: ChainParams
  readonly blocks: BlockReads
  /** undefined: the node has no block yet, or was never reached. */
  headNumber(): Promise<number | undefined>
  /** Returns true when a block is part of the current chain. */
  includes(number: number, hash: Hex): Promise<boolean>
  /** Index record of a block; undefined: it is not there, or not yet. */
  record(number: number): Promise<BlockRecord | undefined>
  receipt(place: TransactionLocation): Promise<IncludedReceipt | undefined>
  /** Cause of a transaction's failure, for blocks that are not indexed yet; undefined: it succeeded, or the node does not know. */
  failedExecution(place: TransactionLocation): Promise<FailedExecution | undefined>
  /** Throws TOO_MANY_RESULTS, QUERY_TIMEOUT and RESULTS_TOO_LARGE. */
  logs(query: LogQuery, limits: LogSearchLimits): Promise<readonly LogEntry[]>
  /** Lends the head's state. */
  onState<T>(work: (state: AsyncStateReader) => T | Promise<T>): Promise<T>
  /** Clears the caches, after blocks were reverted or to free memory. */
  forget(): void
  close(): Promise<void>
}

/** Calls of contracts on the head's state. */
export interface HeadCalls {
  /** Lends a call on one state; undefined when the state is not there. */
  run<T>(work: (call: ContractCall) => Promise<T>): Promise<T | undefined>
}
