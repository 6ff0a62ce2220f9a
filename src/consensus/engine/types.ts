import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { BlockCodec } from '../../primitives/block-codec.ts'
import type { ValidatorSigner } from '../../primitives/consensus/signer.ts'
import type { RecoverAddress } from '../certificate.ts'
import type { ConsensusMetrics } from '../monitor/metrics.ts'
import type { CommitteePort, DecidedBlock, EvidencePort, ExecutionPort, NetworkPort } from '../ports.ts'
import type { Watermark } from '../signer/watermark.ts'
import type { Wal } from '../wal/wal.ts'

export interface ConsensusParams {
  readonly chainId: number
  readonly genesisHash: Hex
  /** 0 = instant mode; fractions of a second are allowed (timing/block-time.ts). */
  readonly blockTimeMs: number
  readonly roundTimeoutMs: number
  /** Builds begin as late as they usually may (timing/build-budget.ts). */
  readonly isDevelopment?: boolean
}

export interface ConsensusEngineOptions {
  readonly ports: {
    readonly execution: ExecutionPort
    readonly committee: CommitteePort
    readonly network: NetworkPort
    readonly blocks: BlockCodec
    /** Receives every proof against a validator; without it proofs are only logged. */
    readonly evidence?: EvidencePort
  }
  readonly clock: Clock
  /** null: follows and never votes. */
  readonly signer: ValidatorSigner | null
  readonly recover: RecoverAddress
  readonly wal: Wal
  readonly watermark: Watermark
  readonly params: ConsensusParams
  readonly logger: Logger
  /** Called once when the engine has failed: it signs nothing any more, and the process should stop. */
  readonly onFatal: (error: Error) => void
  readonly metrics?: ConsensusMetrics
  /** Proposals of the open height that are kept; other bodies are requested by hash. */
  readonly heldBlocks?: number
  /** The operator's assurance that this key never voted with a log that is now lost. */
  readonly trustMissingLog?: boolean
  /** The chain began with a snapshot, and blocks before it are missing: the node has not seen every seal. */
  readonly beganWithSnapshot?: boolean
}

/** This validator's key signs elsewhere: a second instance, or a stolen key. */
export type KeyInUseError = { readonly code: 'KEY_IN_USE'; readonly number: number; readonly round: number }

/** The engine does not run, so it accepts no input. */
export type EngineStoppedError = { readonly code: 'ENGINE_STOPPED' }

/**
 * Imports blocks that others decided, in order; each must be verified to be final. `adopt` resolves when the block is the head, and
 * all of them are durable before the next height opens; a block at or below the head is skipped. It rejects with ENGINE_STOPPED or
 * with the failure of the commit.
 */
export type CatchUp = (adopt: (decided: DecidedBlock) => Promise<void>) => Promise<void>

export type EngineMode = 'stopped' | 'voting' | 'following' | 'quarantined' | 'failed'

export interface ConsensusStatus {
  readonly mode: EngineMode
  /** True while nothing is being proposed or decided: the open height waits. */
  readonly isIdle: boolean
  readonly number: number
  readonly round: number
  readonly committeeSize: number
  readonly quorum: number
  /** Votes seen in the current round. */
  readonly prepares: number
  readonly commits: number
  /** Members that keep the height from being decided: unreachable ones that are too many, or from round 2 on those not heard. */
  readonly missing: readonly Hex[]
  /** Number of messages in memory, of the open height and of later ones. */
  readonly held: number
  /** Number of blocks in memory of the open height. */
  readonly heldBlocks: number
  /** Blocks decided since start, and those decided in a round above 0. */
  readonly decided: number
  readonly decidedLate: number
  readonly roundChanges: number
  readonly evidence: number
  readonly rejectedMessages: number
  /** Milliseconds from the proposal (or the request, in instant mode) to the decision of the last block. */
  readonly lastDecisionMs: number
}

/** Shell around the pure core: executes its effects and nothing else. */
export interface ConsensusEngine {
  /**
   * Replays the log, commits what was decided but not committed, and opens the next height. Throws when the log and the database
   * contradict each other.
   */
  start(): Promise<void>
  /** Stops signing at once and waits for a write or commit under way. */
  stop(): Promise<void>
  /** Milliseconds before the block time at which a block should be requested, to be ready in time. */
  readonly headStartMs: number
  /**
   * Instant mode: signals that there is a transaction. Cheap and idempotent; ignored in other modes. The block is not proposed before
   * `dueMs`.
   */
  requestBlock(dueMs?: number): void
  /**
   * Leaves the open height while `work` runs, so that nothing is signed meanwhile, and then opens the one after the head, also when
   * the work fails. Signed messages remain in log and watermark: a height that was not overtaken continues from its state
   * (docs/design/consensus.md#catching-up, docs/design/network.md#block-sync). Rejects with ENGINE_STOPPED, or as the work does.
   */
  catchUp(work: CatchUp): Promise<void>
  /** Ends the engine for an external reason: it signs nothing from now on, and `onFatal` is called. */
  giveUp(reason: Error): void
  status(): ConsensusStatus
}
