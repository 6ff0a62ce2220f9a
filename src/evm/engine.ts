import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { InternalTransfer } from '../primitives/receipt/internal-transfer.ts'
import type { Log } from '../primitives/receipt/log.ts'
import type { AccessListEntry } from '../primitives/transaction/transaction.ts'
import type { TransactionError } from '../rules/transaction.ts'
import type { Journal } from '../state/journal/journal.ts'
import type { EngineEnv } from './block-env.ts'
import type { MovedPrecompiles } from './moved-precompiles.ts'
import type { Prefetcher } from './prefetched-reader.ts'
import type { TraceHooks } from './tracer.ts'

/** One message at depth 0. The sender's nonce is already raised and its gas bought. */
export interface EngineMessage {
  /** Sender and origin. */
  readonly from: Hex
  /** null: contract creation with `data` as init code. */
  readonly to: Hex | null
  readonly value: bigint
  readonly data: Uint8Array
  /** Gas of the message: the limit less the intrinsic gas. */
  readonly gas: bigint
  /** GASPRICE, wei. */
  readonly gasPrice: bigint
  readonly accessList: readonly AccessListEntry[]
  /** Warm addresses besides sender, recipient, precompiles, coinbase (EIP-3651) and access list: the authorities of EIP-7702. */
  readonly warm?: readonly Hex[]
  readonly blobVersionedHashes?: readonly Hex[]
}

/** Failure of a message. `revert` returns unused gas and has `output`; `halt` consumed all gas. */
export type EngineFailure = { readonly kind: 'revert' } | { readonly kind: 'halt'; readonly reason: string }

export interface EngineResult {
  readonly gasUsed: bigint
  /** Refund counter before the cap of EIP-3529; zero when the message failed. */
  readonly refund: bigint
  readonly output: Uint8Array
  readonly logs: readonly Log[]
  /** In the order of execution; empty when the message failed, missing where the engine does not record them. */
  readonly internal?: readonly InternalTransfer[]
  /** Address of the created account, also when the creation failed; null for calls. */
  readonly created: Hex | null
  /** Accounts to delete at the end of the transaction (EIP-6780 applied where active). */
  readonly destroyed: readonly Hex[]
  readonly failure: EngineFailure | null
  /** Gas by which the message's could be less for the same run, if code does not read its gas; undefined: not known. */
  readonly spareGas?: bigint
  /** With `transfers`: the logs including those of transfers, in order. */
  readonly tracedLogs?: readonly Log[]
}

/** Stops a message from outside: the engine checks it regularly, and yields to the event loop between slices. */
export interface Interrupt {
  /** Milliseconds of work between two yields. */
  readonly sliceMs: number
  /** Yields to other work; by default for one event-loop turn. */
  giveWay?(): Promise<void>
  /** true: the engine throws CodedError<InterruptedError>; the caller reverts the journal. `logBytes`: logs so far, which take time later. */
  shouldStop(logBytes?: number): boolean
}

export interface InterruptedError {
  readonly code: 'EXECUTION_INTERRUPTED'
}

/** Thrown as CodedError by an engine: the message used more gas than `EngineOptions.gasBound`. */
interface GasBoundError {
  readonly code: 'GAS_BOUND_EXCEEDED'
}

/** Receives the addresses and slots an execution touched (EIP-2929 warm set without the sender, recipient and precompiles). */
export interface AccessRecorder {
  address(address: Hex): void
  slot(address: Hex, slot: Hex): void
}

export interface EngineOptions {
  readonly interrupt?: Interrupt | undefined
  /** Gas beyond which the result is not needed: then CodedError<GasBoundError>, soon. Code cannot observe the bound. */
  readonly gasBound?: bigint | undefined
  /** true: the caller reverts the message's changes at once, and the engine need not write them, nor tell logs and transfers. */
  readonly discards?: boolean
  readonly accesses?: AccessRecorder | undefined
  /** Present where the journal's base cannot be read synchronously: called before each read of an account, a slot or code. */
  readonly prefetch?: Prefetcher | undefined
  /** Precompiles that state overrides moved or replaced. */
  readonly moves?: MovedPrecompiles | undefined
  /** true: transfers of wei are returned as logs too (ERC-7528). */
  readonly transfers?: boolean
  readonly trace?: TraceHooks
  /** Called before the environment's `blockHash`, for blocks whose hash has to be computed; undefined: use that one. */
  blockHash?(number: number): Promise<Hex> | undefined
}

/** Runs one message against a journal; a failed one leaves no change. The executor deletes `destroyed` accounts, refunds, takes fees. */
export interface Engine {
  readonly name: string
  run(
    journal: Journal,
    env: EngineEnv,
    message: EngineMessage,
    options?: EngineOptions,
  ): EngineResult | Promise<EngineResult>
}

/** Errors of every method of CallService, thrown as CodedError. */
export type CallError =
  | { readonly code: 'EXECUTION_REVERTED'; readonly data: Uint8Array }
  | { readonly code: 'EXECUTION_FAILED'; readonly reason: string }
  | { readonly code: 'EXECUTION_TIMEOUT'; readonly timeoutMs: number }
  /** Balance of the sender, and what the call needs of it, wei. */
  | { readonly code: 'INSUFFICIENT_BALANCE_FOR_TRANSFER'; readonly have: bigint; readonly want: bigint }
  | { readonly code: 'INTRINSIC_GAS_TOO_LOW'; readonly have: bigint; readonly want: bigint }
  | { readonly code: 'GAS_REQUIRED_EXCEEDS_ALLOWANCE'; readonly allowance: bigint }
  | { readonly code: 'CHAIN_ID_MISMATCH'; readonly have: bigint; readonly want: bigint }
  | { readonly code: 'MISSING_STATE'; readonly root: Hex }
  | { readonly code: 'OVERRIDE_CONFLICT'; readonly address: Hex }
  | { readonly code: 'NOT_A_PRECOMPILE'; readonly address: Hex }
  | { readonly code: 'PRECOMPILE_MOVED_TO_ITSELF'; readonly address: Hex }
  /** A precompile cannot be moved to an account with overrides of its own. */
  | { readonly code: 'ALREADY_OVERRIDDEN'; readonly address: Hex }
  | { readonly code: 'CALL_QUEUE_FULL'; readonly limit: number }
  /** The client's own waiting calls are too many or too large. */
  | { readonly code: 'CLIENT_QUEUE_FULL'; readonly limit: number }
  | SimulationError

/** Reasons why blocks cannot be simulated (`simulate/`). */
type SimulationError =
  | { readonly code: 'SIMULATION_NUMBER_ORDER'; readonly number: number; readonly previous: number }
  | { readonly code: 'SIMULATION_TIME_ORDER'; readonly timestamp: number; readonly previous: number }
  /** `what` describes the limit. */
  | { readonly code: 'SIMULATION_LIMIT'; readonly what: string }
  | {
      readonly code: 'SIMULATION_CALL_INVALID'
      /** Number of the block, and index of the call in it. */
      readonly number: number
      readonly index: number
      readonly reason: TransactionError
    }

/** Number of this thread's messages by engine, for the metrics. */
export const engineCounts = { wasm: 0, elsewhere: 0 }

/** Error of a message that used more than `EngineOptions.gasBound`. */
export const gasBoundExceeded = (): CodedError<GasBoundError> =>
  new CodedError<GasBoundError>({ code: 'GAS_BOUND_EXCEEDED' })
