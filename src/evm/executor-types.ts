import type { Receipt } from '../primitives/receipt.ts'
import type { Transaction } from '../primitives/transaction.ts'
import type { TransactionError } from '../rules/transaction.ts'
import type { Journal } from '../state/journal/journal.ts'
import type { Hex } from '../util/bytes.ts'
import type { BlockEnv } from './block-env.ts'

/** Who executes blocks: our executor, the VM of EthereumJS, or both with a comparison. */
export const EXECUTION_MODES = ['fast', 'ethereumjs', 'shadow'] as const
export type ExecutionMode = (typeof EXECUTION_MODES)[number]

/** Candidates in the order the proposer wants them; the pool implements it. */
export interface TransactionSource {
  next(): Transaction | undefined
  /** The last candidate cannot go into this block: nothing else of its sender can either. */
  skipSender(transaction: Transaction): void
  /** The last candidate was stopped before its end and left nothing. Its sender is skipped as well. */
  overran?(transaction: Transaction, overrun: Overrun): void
}

/** A candidate that was stopped while a block was built. */
export interface Overrun {
  readonly ranMs: number
  /** It had all the time that a transaction may take, so it does not fit into any block of this node. */
  readonly isProven: boolean
}

/** What a proposer may spend on one block (docs/design/evm-rules.md#limits). */
export interface BuildBudget {
  /** Sum of the transactions' serialised lengths, bytes. */
  readonly maxBytes: number
  /** Any monotonic clock, milliseconds. */
  nowMs(): number
  /** On the same clock: from here on no transaction is taken. Time of stopped transactions does not count. */
  readonly deadlineMs: number
  /** The longest run of one transaction, where nothing stands before it in the block; also of all stopped ones together, milliseconds. */
  readonly transactionMs: number
  /** Aborted: nobody wants the block any more. */
  readonly signal?: AbortSignal
}

/** What stops the execution of a proposal before its end. */
export interface ExecutionBounds {
  /** Of the header: nothing runs beyond it. */
  readonly gasUsed?: bigint
  /** Aborted: nobody wants the result any more. */
  readonly signal?: AbortSignal
}

/** Thrown by `execute` as CodedError: the transactions use more gas than the header names. */
export interface GasUsedError {
  readonly code: 'BODY_GAS_USED'
  /** Of the transaction that went beyond it. */
  readonly index: number
  /** Of the header. */
  readonly gasUsed: bigint
}

/** A balance the protocol adds after the block's transactions (rewards, docs/design/money.md#minting). */
export interface Credit {
  readonly address: Hex
  readonly amountWei: bigint
}

/** The block's fees in wei: what was burnt and what was credited to whom. */
export interface BlockFees {
  readonly burnt: bigint
  readonly proposer: bigint
  readonly miner: bigint
  readonly foundation: bigint
}

/** Thrown by `execute` as CodedError: the proposal is bad. */
export interface InvalidTransactionError {
  readonly code: 'INVALID_TRANSACTION'
  readonly index: number
  readonly reason: TransactionError
}

/** Exception of this node's engine on a transaction. It says nothing about the transaction. */
export interface ExecutionFault {
  readonly code: 'EXECUTION_FAULT'
  readonly message: string
}

/** Thrown by `execute` as CodedError: this node cannot judge the proposal. */
export interface ExecutionFaultError extends ExecutionFault {
  /** Of the transaction. */
  readonly index: number
  readonly hash: Hex
}

/** Thrown in shadow mode as CodedError: the two executions differ, the node must stop. */
export interface ShadowMismatchError {
  readonly code: 'SHADOW_MISMATCH'
  /** Reproduction file, null when it could not be written. */
  readonly file: string | null
  readonly what: string
}

export interface DroppedTransaction {
  readonly transaction: Transaction
  /** A transaction on which the engine breaks is left out too, so that it cannot stop the chain. */
  readonly reason: TransactionError | ExecutionFault
}

/** What a block's transactions did. The state changes stand in the journal that was passed in. */
export interface BlockExecution {
  readonly transactions: readonly Transaction[]
  readonly receipts: readonly Receipt[]
  readonly gasUsed: bigint
  readonly logsBloom: Uint8Array
  readonly fees: BlockFees
  /** What the block asks of the consensus layer (EIP-7685), where there is one (`env.beacon`) from Prague on. */
  readonly requests?: readonly Uint8Array[]
  /** Invalid candidates of `build`; empty from `execute`. */
  readonly dropped: readonly DroppedTransaction[]
}

export interface Executor {
  /**
   * Takes candidates until the source, the bytes, the gas or the time end. Invalid candidates are reported, not included; one that
   * takes too long is stopped and told to the source. Throws CodedError<InterruptedError> when the signal aborts.
   */
  build(
    journal: Journal,
    env: BlockEnv,
    source: TransactionSource,
    budget: BuildBudget,
    credits?: readonly Credit[],
  ): Promise<BlockExecution>
  /**
   * Executes a proposal. Throws CodedError<InvalidTransactionError | GasUsedError | ExecutionFaultError | InterruptedError>, leaving
   * the journal in an undefined state.
   */
  execute(
    journal: Journal,
    env: BlockEnv,
    transactions: readonly Transaction[],
    credits?: readonly Credit[],
    bounds?: ExecutionBounds,
  ): Promise<BlockExecution>
  /** Loads what the first contract transaction would have to wait for. Optional: it happens by itself. */
  warmUp(): Promise<void>
}
