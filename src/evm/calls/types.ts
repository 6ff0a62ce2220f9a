import type { Cancellation } from '@tandem/base/async/cancellation.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { AccessListEntry } from '../../primitives/transaction/transaction.ts'
import type { TransactionError } from '../../rules/transaction.ts'
import type { HashBlocks, SimulatedBlock, SimulationPlan } from '../simulate/types.ts'
import type { BlockOverrides, CallMessage, StateOverrides } from './message/call-args.ts'

/** Call on the state after `number`; with `pending`, on the state after the pending block built on it. */
export interface CallRequest {
  readonly message: CallMessage
  readonly number: number
  readonly pending?: boolean
  readonly overrides?: StateOverrides
  readonly blockOverrides?: BlockOverrides
}

export interface CallResult {
  readonly output: Uint8Array
  readonly gasUsed: bigint
}

export interface AccessListResult {
  readonly accessList: readonly AccessListEntry[]
  readonly gasUsed: bigint
  /** Reason of a failure. */
  readonly error?: string
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

/** Calls off the main thread, bounded in gas and time (docs/design/evm-rules.md#calls). */
export interface CallService {
  /**
   * `client`: for the rotation and the per-client limits while other calls wait too. A call that is cancelled rejects with Cancelled
   * or as timed out.
   */
  call(request: CallRequest, client: string, cancellation?: Cancellation): Promise<CallResult>
  estimateGas(request: CallRequest, client: string, cancellation?: Cancellation): Promise<bigint>
  createAccessList(request: CallRequest, client: string, cancellation?: Cancellation): Promise<AccessListResult>
  /**
   * Simulates the blocks of a plan, each on the previous one; `hash` is called when code reads the hash of one of them.
   */
  simulate(
    plan: SimulationPlan,
    client: string,
    hash: HashBlocks,
    cancellation?: Cancellation,
  ): Promise<readonly SimulatedBlock[]>
  close(): Promise<void>
}
