import type { Cancellation } from '@tandem/base/async/cancellation.ts'
import type { AccessListEntry } from '../../primitives/transaction/transaction.ts'
import type { BlockOverrides, CallMessage, StateOverrides } from './message/call-args.ts'
import type { HashBlocks, SimulatedBlock, SimulationPlan } from './simulate/types.ts'

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

/** Calls off the main thread, bounded in gas and time (docs/design/evm-rules.md#calls). */
export interface CallService {
  /** `client`: for rotation and limits while other calls wait. A cancelled call rejects with Cancelled or as timed out. */
  call(request: CallRequest, client: string, cancellation?: Cancellation): Promise<CallResult>
  estimateGas(request: CallRequest, client: string, cancellation?: Cancellation): Promise<bigint>
  createAccessList(request: CallRequest, client: string, cancellation?: Cancellation): Promise<AccessListResult>
  /** Simulates the blocks of a plan, each on the previous one; `hash` is called when code reads the hash of one of them. */
  simulate(
    plan: SimulationPlan,
    client: string,
    hash: HashBlocks,
    cancellation?: Cancellation,
  ): Promise<readonly SimulatedBlock[]>
  close(): Promise<void>
}
