import type { Hex } from '@tandem/base/bytes.ts'
import type { Log } from '../../../primitives/receipt/log.ts'
import type { PackedBatch } from '../../../state/batch.ts'
import type { SerializedEnv } from '../../block-env.ts'
import type { EngineFailure } from '../../engine.ts'
import type { BlockExecution } from '../../executor-types.ts'
import type { BlockOverrides, CallMessage, StateOverrides } from '../message/call-args.ts'

/* Simulated blocks (eth_simulateV1 of the execution APIs): blocks of calls on a state, each on the result of the previous one. */

/** One entry of `blockStateCalls`. */
export interface BlockCalls {
  readonly overrides: BlockOverrides
  readonly state: StateOverrides
  readonly calls: readonly CallMessage[]
}

export interface SimulationRequest {
  /** Base block of the first simulated one; with `pending`, the pending block built on it. */
  readonly number: number
  readonly pending?: boolean
  readonly blocks: readonly BlockCalls[]
  /** true: nonces and fees are checked as for transactions, and the base fee follows its rule. */
  readonly validation: boolean
  readonly traceTransfers: boolean
}

/** Position of a simulated block. `calls` is null where the request left a gap of empty blocks. */
export interface BlockSlot {
  readonly number: number
  /** Unix seconds. */
  readonly timestamp: number
  readonly calls: BlockCalls | null
}

/** Simulated block before its calls. */
export interface PlannedBlock extends Omit<BlockCalls, 'overrides'> {
  readonly env: Omit<SerializedEnv, 'baseFeePerGas' | 'hash' | 'parentHash'>
  /** Requested base fee; undefined: the rule decides. */
  readonly baseFeePerGas: bigint | undefined
}

export interface SimulationPlan extends Omit<SimulationRequest, 'blocks'> {
  /** Base block of the first. */
  readonly base: {
    readonly number: number
    readonly hash: Hex
    readonly gasLimit: bigint
    readonly gasUsed: bigint
    readonly baseFeePerGas: bigint
  }
  readonly blocks: readonly PlannedBlock[]
  /** Gas limit of all calls together. */
  readonly gas: bigint
}

export interface SimulatedCall {
  /** Return data, or the data of its revert. */
  readonly output: Uint8Array
  /** Includes logs of transfers where requested; empty for a failed call. */
  readonly logs: readonly Log[]
  readonly gasUsed: bigint
  /** Gas before refunds. */
  readonly peakGas: bigint
  readonly failure: EngineFailure | null
}

/** Results of a simulated block: everything its header needs except the state root. */
export interface SimulatedBlock {
  readonly env: Omit<SerializedEnv, 'hash' | 'parentHash'>
  readonly execution: BlockExecution
  readonly roots: { readonly transactions: Hex; readonly receipts: Hex }
  /** Changes to the state after the previous block; null: none. */
  readonly changes: PackedBatch | null
  readonly calls: readonly SimulatedCall[]
}

/** Returns the hashes of the simulated blocks since the last call, in order; called when code reads one. */
export type HashBlocks = (blocks: readonly SimulatedBlock[]) => Promise<readonly Hex[]>
