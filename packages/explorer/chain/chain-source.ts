import type { Hex } from '@tandem/base/bytes.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import type { BlockRecord, FailedExecution } from '../store/records.ts'
import type { ChainRules } from './rules.ts'
import type { Block, BlockHeader, Decision, IncludedReceipt, LogEntry, LogQuery, TransactionLocation } from './types.ts'

/** State of the head. Two reads may see two blocks. */
export interface HeadState {
  account(address: Hex): Promise<{ readonly balance: bigint; readonly nonce: Nonce }>
  code(address: Hex): Promise<Uint8Array>
  storage(address: Hex, slot: Hex): Promise<Hex>
}

/** The committed chain as the explorer reads it. Blocks and transactions that the node does not have are undefined. */
export interface ChainSource {
  readonly rules: ChainRules
  readonly state: HeadState
  /** undefined: the node has no block yet, or was never reached. */
  headNumber(): Promise<number | undefined>
  /** Returns true when a block is part of the current chain. */
  includes(number: number, hash: Hex): Promise<boolean>
  header(number: number): Promise<BlockHeader | undefined>
  block(number: number): Promise<Block | undefined>
  numberOf(blockHash: Hex): Promise<number | undefined>
  locate(transactionHash: Hex): Promise<TransactionLocation | undefined>
  receipt(transactionHash: Hex): Promise<IncludedReceipt | undefined>
  decision(number: number): Promise<Decision>
  /** Cause of a transaction's failure, for blocks that are not indexed yet; undefined: it succeeded, or the node does not know. */
  failedExecution(place: TransactionLocation): Promise<FailedExecution | undefined>
  /**
   * Index records of a range of blocks, ascending; `proofHeight` is that of the last proof header before them. Ends early when the chain
   * changes meanwhile.
   */
  records(from: number, to: number, proofHeight: number): AsyncIterable<BlockRecord>
  /** Throws CodedError<LogSearchError> for searches that are too wide. */
  logs(query: LogQuery, limit: number): Promise<readonly LogEntry[]>
  close(): Promise<void>
}

/** Index record of a block; undefined when the node does not have it. */
export const recordAt = async (source: ChainSource, number: number): Promise<BlockRecord | undefined> => {
  // Proof headers are those of the index.
  for await (const record of source.records(number, number, Number.POSITIVE_INFINITY)) return record
  return undefined
}

/** Result of a call to a contract on the head's state; undefined when it fails, or takes too much gas, time or bytes. Never throws because of the contract. */
export type ContractCall = (to: Hex, data: Uint8Array) => Promise<Uint8Array | undefined>
