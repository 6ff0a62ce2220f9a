import type { Hex } from '@tandem/base/bytes.ts'
import type {
  authorizationFrom,
  blockFrom,
  headerFrom,
  logEntryFrom,
  logFrom,
  receiptFrom,
  transactionFrom,
} from './decode.ts'

/* Objects of JSON-RPC as the explorer uses them. */

export type BlockHeader = Readonly<ReturnType<typeof headerFrom>>
export type Transaction = Readonly<ReturnType<typeof transactionFrom>>
export type Block = Readonly<ReturnType<typeof blockFrom>>
export type Authorization = Readonly<ReturnType<typeof authorizationFrom>>
export type Log = Readonly<ReturnType<typeof logFrom>>
export type LogEntry = Readonly<ReturnType<typeof logEntryFrom>>
export type Receipt = Readonly<ReturnType<typeof receiptFrom>>

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
