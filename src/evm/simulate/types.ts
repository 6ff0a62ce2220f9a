import type { Log } from '../../primitives/log.ts'
import type { PackedBatch } from '../../state/trie/types.ts'
import type { Hex } from '../../util/bytes.ts'
import type { BlockOverrides, CallMessage, StateOverrides } from '../calls/types.ts'
import type { SerializedEnv } from '../calls/worker-protocol.ts'
import type { EngineFailure } from '../engine.ts'
import type { BlockExecution } from '../executor-types.ts'

/* Simulated blocks (eth_simulateV1 of the execution APIs): blocks of calls on a state, each on what the one before left. */

/** One entry of `blockStateCalls`. */
export interface BlockCalls {
  readonly overrides: BlockOverrides
  readonly state: StateOverrides
  readonly calls: readonly CallMessage[]
}

export interface SimulationRequest {
  /** The block under the first simulated one; with `pending`, the pending block built on it. */
  readonly number: number
  readonly pending?: boolean
  readonly blocks: readonly BlockCalls[]
  /** true: nonces and fees are held as for transactions, and the base fee moves. */
  readonly validation: boolean
  readonly traceTransfers: boolean
}

/** A place in the chain of simulated blocks. `calls` is null where the request left a gap of empty blocks. */
export interface BlockSlot {
  readonly number: number
  /** Unix seconds. */
  readonly timestamp: number
  readonly calls: BlockCalls | null
}

/** A simulated block as its calls will find it. */
export interface PlannedBlock extends Omit<BlockCalls, 'overrides'> {
  readonly env: Omit<SerializedEnv, 'baseFeePerGas' | 'recentHashes'>
  /** What the request asks for; undefined: the rule decides. */
  readonly baseFeePerGas: bigint | undefined
}

export interface SimulationPlan extends Omit<SimulationRequest, 'blocks'> {
  /** The block under the first. */
  readonly base: {
    readonly number: number
    readonly hash: Hex
    readonly gasLimit: bigint
    readonly gasUsed: bigint
    readonly baseFeePerGas: bigint
  }
  readonly blocks: readonly PlannedBlock[]
  /** For all calls together. */
  readonly gas: bigint
}

export interface SimulatedCall {
  /** What it returned, or the data of its revert. */
  readonly output: Uint8Array
  /** With those of transfers where these are asked for; empty for a call that failed. */
  readonly logs: readonly Log[]
  readonly gasUsed: bigint
  /** Before refunds. */
  readonly peakGas: bigint
  readonly failure: EngineFailure | null
}

/** What a simulated block did: all that its header needs but the state root. */
export interface SimulatedBlock {
  readonly env: Omit<SerializedEnv, 'recentHashes'>
  readonly execution: BlockExecution
  readonly roots: { readonly transactions: Hex; readonly receipts: Hex }
  /** What it changed in the state the block before left; null: nothing. */
  readonly changes: PackedBatch | null
  readonly calls: readonly SimulatedCall[]
}

/** The hashes of simulated blocks, in order: asked for when code wants one. */
export type HashBlocks = (blocks: readonly SimulatedBlock[]) => Promise<readonly Hex[]>
