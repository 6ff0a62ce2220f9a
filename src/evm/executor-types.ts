import type { Hex } from '@tandem/base/bytes.ts'
import type { FailedExecution } from '../primitives/receipt/failed-execution.ts'
import type { BlockInternalTransfer } from '../primitives/receipt/internal-transfer.ts'
import type { Receipt } from '../primitives/receipt/receipt.ts'
import type { Transaction } from '../primitives/transaction/transaction.ts'
import type { FeeSplit } from '../rules/money/fees.ts'
import type { TransactionError } from '../rules/transaction.ts'
import type { Journal } from '../state/journal/journal.ts'
import type { BlockEnv } from './block-env.ts'

/** Ways to run code: the engine in WebAssembly, EthereumJS, or both over every block with a comparison. */
export const EXECUTION_MODES = ['wasm', 'ethereumjs', 'shadow'] as const
export type ExecutionMode = (typeof EXECUTION_MODES)[number]

/** Candidates in the proposer's order; the pool implements it (docs/design/pool.md#time-of-a-block). */
export interface TransactionSource {
  next(): Transaction | undefined
  /** The last candidate cannot be in this block, so none of its sender's later ones can either. */
  skipSender(transaction: Transaction): void
  /** Candidate that half of the time for stopped transactions is kept for until it is next. */
  readonly longestWaiting?: Hex | undefined
  /** Returns the least time, milliseconds, with which the last candidate may run. */
  neededMs?(transaction: Transaction): number
  /** The last candidate was left out because stopped ones had used up their time. Its sender is skipped as well. */
  passedOver?(transaction: Transaction): void
  /** The last candidate was stopped after `ranMs` of processor time and left no changes. Its sender is skipped as well. */
  overran?(transaction: Transaction, ranMs: number): void
}

/** Budget of a proposer for one block (docs/design/evm-rules.md#limits). */
export interface BuildBudget {
  /** Sum of the transactions' serialised lengths, bytes. */
  readonly maxBytes: number
  /** Any monotonic clock, milliseconds. */
  nowMs(): number
  /** Processor time of this thread, milliseconds; `nowMs` if omitted. */
  readonly cpuMs?: (() => number) | undefined
  /** Time on the same clock from which no transaction is added. Time of stopped transactions does not count. */
  readonly deadlineMs: number
  /** Longest run of one transaction that is the first of its block; also of all stopped ones together, milliseconds. */
  readonly transactionMs: number
  /** Gas of all transactions but transfers, where more than one stands in the block; the chain's bound if omitted. */
  readonly maxGas?: bigint
  /** Milliseconds after the deadline reserved for plain transfers; 0 if omitted. */
  readonly transferMs?: number
  /** Aborted when the block is no longer needed. */
  readonly signal?: AbortSignal
}

/** Conditions that stop the execution of a proposal. */
export interface ExecutionBounds {
  /** Gas used in the header: execution stops beyond it. */
  readonly gasUsed?: bigint
  /** Aborted when the result is no longer needed. */
  readonly signal?: AbortSignal
}

/** Thrown by `execute` as CodedError: the transactions use more gas than the header says. */
export interface GasUsedError {
  readonly code: 'BODY_GAS_USED'
  /** Index of the transaction that exceeded it. */
  readonly index: number
  /** Gas used in the header. */
  readonly gasUsed: bigint
}

/** Balance the protocol adds after the block's transactions (rewards, docs/design/money.md#minting). */
export interface Credit {
  readonly address: Hex
  readonly amountWei: bigint
}

/** Thrown by `execute` as CodedError: the proposal is invalid. */
export interface InvalidTransactionError {
  readonly code: 'INVALID_TRANSACTION'
  readonly index: number
  readonly reason: TransactionError
}

/** Exception of this node's engine on a transaction. It says nothing about the transaction. */
interface ExecutionFault {
  readonly code: 'EXECUTION_FAULT'
  readonly message: string
}

/** Thrown by `execute` as CodedError: this node cannot validate the proposal. */
export interface ExecutionFaultError extends ExecutionFault {
  /** Index and hash of the transaction. */
  readonly index: number
  readonly hash: Hex
}

/** Thrown in shadow mode as CodedError: the two executions differ, and the node must stop. */
export interface ShadowMismatchError {
  readonly code: 'SHADOW_MISMATCH'
  /** Reproduction file, null when it could not be written. */
  readonly file: string | null
  readonly what: string
}

export interface DroppedTransaction {
  readonly transaction: Transaction
  /** A transaction on which the engine fails is dropped too, so that it cannot stop the chain. */
  readonly reason: TransactionError | ExecutionFault
}

/** Results of a block's transactions. The state changes are in the journal that was passed in. */
export interface BlockExecution {
  readonly transactions: readonly Transaction[]
  readonly receipts: readonly Receipt[]
  /** In the order of execution; missing where the executor does not record them. */
  readonly internal?: readonly BlockInternalTransfer[]
  /** Causes of failures, in the order of execution; missing where the executor does not record them. */
  readonly failed?: readonly FailedExecution[]
  readonly gasUsed: bigint
  readonly logsBloom: Uint8Array
  /** Wei. */
  readonly fees: FeeSplit
  /** Requests of the block to the consensus layer (EIP-7685), where there is one (`env.beacon`) from Prague on. */
  readonly requests?: readonly Uint8Array[]
  /** Invalid candidates of `build`; empty from `execute`. */
  readonly dropped: readonly DroppedTransaction[]
}

export interface Executor {
  /** Adds candidates until source, bytes, gas or time end; invalid and slow ones are reported. Throws CodedError<InterruptedError>. */
  build(
    journal: Journal,
    env: BlockEnv,
    source: TransactionSource,
    budget: BuildBudget,
    credits?: readonly Credit[],
  ): Promise<BlockExecution>
  /** Executes a proposal. Throws CodedError<InvalidTransactionError | GasUsedError | ExecutionFaultError | InterruptedError>. */
  execute(
    journal: Journal,
    env: BlockEnv,
    transactions: readonly Transaction[],
    credits?: readonly Credit[],
    bounds?: ExecutionBounds,
  ): Promise<BlockExecution>
  /** Preloads the engine for the first contract transaction. Optional: it is also loaded on demand. */
  warmUp(): Promise<void>
}
