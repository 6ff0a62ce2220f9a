import type { Hex } from '@tandem/base/bytes.ts'
import type { Nonce } from '@tandem/base/uint64.ts'

/* Objects of JSON-RPC as the explorer uses them. */

export interface BlockHeader {
  readonly number: number
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestamp: number
  /** Member that proposed the block; the miner on chains without proposers. */
  readonly proposer: Hex
  readonly miner: Hex
  readonly stateRoot: Hex
  readonly transactionsRoot: Hex
  readonly receiptsRoot: Hex
  readonly extraData: Hex
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  /** 0n before London. */
  readonly baseFeePerGas: bigint
}

export interface Block extends BlockHeader {
  readonly size: number
  readonly transactions: readonly Transaction[]
}

interface AccessListEntry {
  readonly address: Hex
  readonly storageKeys: readonly Hex[]
}

/** Authorization to run other code for an account, as signed (EIP-7702). */
export interface Authorization {
  /** 0: of any chain. */
  readonly chainId: bigint
  /** Account whose code runs; the zero address ends the delegation. */
  readonly address: Hex
  readonly nonce: bigint
  readonly yParity: number
  /** Big-endian, without leading zeros. */
  readonly r: Uint8Array
  readonly s: Uint8Array
}

export interface Transaction {
  readonly hash: Hex
  readonly type: number
  readonly from: Hex
  readonly to: Hex | null
  readonly nonce: Nonce
  readonly gasLimit: bigint
  /** Legacy and type 1: both are gasPrice. */
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly value: bigint
  readonly data: Uint8Array
  readonly accessList: readonly AccessListEntry[]
  readonly authorizationList?: readonly Authorization[]
  readonly v: bigint
  /** Big-endian, without leading zeros. */
  readonly r: Uint8Array
  readonly s: Uint8Array
}

export interface Log {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Uint8Array
}

/** Log with its place in the chain. */
export interface LogEntry extends Log {
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly transactionHash: Hex
  readonly transactionIndex: number
  readonly logIndex: number
}

export interface Receipt {
  /** undefined: of a transaction before Byzantium. */
  readonly status?: 0 | 1
  readonly cumulativeGasUsed: bigint
  readonly gasUsed: bigint
  readonly effectiveGasPrice: bigint
  readonly contractAddress: Hex | null
  readonly logs: readonly Log[]
}

export interface TransactionLocation {
  readonly number: number
  readonly index: number
}

/** Committed transaction with its receipt and position. */
export interface IncludedReceipt {
  readonly transaction: Transaction
  readonly receipt: Receipt
  readonly blockHash: Hex
  readonly blockNumber: number
  readonly index: number
  /** Number of its first log in the block; 0 without logs. */
  readonly firstLog: number
}

/** Logs of a range of blocks, both ends included, of an address, with topics by position; null matches any. */
export interface LogQuery {
  readonly address: Hex | undefined
  readonly topics: readonly (readonly Hex[] | null)[]
  readonly fromBlock: number
  readonly toBlock: number
}

/** Votes by which a block was decided. */
export interface Decision {
  readonly round: number | null
  readonly committee: readonly Hex[] | null
  readonly committers: readonly Hex[] | null
}

/** Error of a search for logs that is too wide, thrown as CodedError. */
export type LogSearchError = { readonly code: 'TOO_MANY_LOGS'; readonly limit: number }
