import type { ScriptName } from '../byzantine/scripts.ts'
import type { CrashPoint } from '../member/crash-points.ts'
import type { CouncilPlan } from '../sim-council.ts'
import type { ProfileName } from './profiles.ts'

/** State lost in a crash besides unsynced data. */
export type CrashLoss = 'nothing' | 'log' | 'log and watermark' | 'log, watermark and blocks' | 'whole folder'

/** Temporary fault, in virtual milliseconds from the start. */
export type PlannedFault = { readonly atMs: number; readonly forMs: number } & (
  | { readonly kind: 'partition'; readonly side: readonly number[]; readonly oneWay: boolean }
  | { readonly kind: 'crash'; readonly node: number; readonly point: CrashPoint; readonly loses: CrashLoss }
  /** Blocks that others send it because its status asks for them are lost. */
  | { readonly kind: 'answers'; readonly node: number }
  /** It hears only Byzantine members. */
  | { readonly kind: 'eclipse'; readonly node: number }
  | { readonly kind: 'pause'; readonly node: number }
  | { readonly kind: 'clockJump'; readonly node: number; readonly skewMs: number }
)

/** Network conditions for each message. */
export interface LinkConditions {
  readonly loss: number
  readonly duplicate: number
  /** Mean one-way delay; delays are independent, so messages overtake each other. */
  readonly delayMs: number
  /** Share of messages delayed by up to five seconds. */
  readonly stuck: number
}

export interface ByzantinePlan {
  readonly node: number
  readonly scripts: readonly ScriptName[]
}

/** Blocks and transactions that take as long as gas permits. */
interface SlowPlan {
  /** Execution time of a Byzantine member's slow block, milliseconds. */
  readonly blockMs: number
  /** Execution time of each transaction of a hostile client; 0 without such a client. */
  readonly hostileMs: number
}

/** Proof header found at one node, or at two at once. */
export interface PlannedFind {
  readonly atMs: number
  readonly nodes: readonly number[]
  /** Time for which its miner keeps it back. */
  readonly withheldMs: number
}

/** Miners of the proof chain. */
export interface MiningPlan {
  /** Height of the second hash function; null: never. */
  readonly forkHeight: number | null
  readonly finds: readonly PlannedFind[]
}

/** Complete plan of a run: equal plans give equal runs, to the last byte. */
export interface Plan {
  readonly seed: number
  readonly profile: ProfileName
  readonly size: number
  /** Relays, numbered after the members; 0: all members are neighbours. */
  readonly relays: number
  readonly byzantine: readonly ByzantinePlan[]
  readonly council: CouncilPlan | null
  readonly blockTimeMs: number
  readonly roundTimeoutMs: number
  /** Mean time to build or validate a block. */
  readonly executionMs: number
  readonly slow: SlowPlan | null
  /** null: no proof header is ever found. */
  readonly mining: MiningPlan | null
  /** Bodies of one height that a member keeps. */
  readonly heldBlocks: number
  /** Members that are behind fetch ranges of blocks, besides what their engine gets. */
  readonly blockSync: boolean
  readonly realKeys: boolean
  readonly linkConditions: LinkConditions
  readonly faults: readonly PlannedFault[]
  /** Faults end when a node has this many blocks, or after `faultsMs`. */
  readonly heights: number
  readonly faultsMs: number
}
