import type { BlockCodec } from '../../primitives/block-codec.ts'
import type { ValidatorSigner } from '../../primitives/consensus/signer.ts'
import type { Hex } from '../../util/bytes.ts'
import type { Clock } from '../../util/clock.ts'
import type { Logger } from '../../util/logger.ts'
import type { RecoverAddress } from '../certificate.ts'
import type { ConsensusMetrics } from '../monitor/metrics.ts'
import type { CommitteePort, DecidedBlock, EvidencePort, ExecutionPort, NetworkPort } from '../ports.ts'
import type { Watermark } from '../signer/watermark.ts'
import type { Wal } from '../wal/wal.ts'

export interface ConsensusParams {
  readonly chainId: number
  readonly genesisHash: Hex
  /** 0 = instant mode; parts of a second allowed (timing/block-time.ts). */
  readonly blockTimeMs: number
  readonly roundTimeoutMs: number
}

export interface ConsensusEngineOptions {
  readonly ports: {
    readonly execution: ExecutionPort
    readonly committee: CommitteePort
    readonly network: NetworkPort
    readonly blocks: BlockCodec
    /** Told of every proof against a validator; without it they are only logged. */
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
  /** Called once when the engine gave up: it signs nothing any more, the process should stop. */
  readonly onFatal: (error: Error) => void
  readonly metrics?: ConsensusMetrics
  /** The operator's word that this key never voted with a log that is now lost. */
  readonly trustMissingLog?: boolean
}

/** Somebody else signs with this validator's key: a second instance, or a thief. */
export type KeyInUseError = { readonly code: 'KEY_IN_USE'; readonly number: number; readonly round: number }

/** Nothing is taken from an engine that does not run. */
export type EngineStoppedError = { readonly code: 'ENGINE_STOPPED' }

/**
 * Brings blocks that others decided, in order; each must be verified to be final. `adopt` resolves when the block is the head, and all
 * are durable before the next height opens; one that is the head or below is passed over. It rejects with ENGINE_STOPPED, or with what the commit failed with.
 */
export type CatchUp = (adopt: (decided: DecidedBlock) => Promise<void>) => Promise<void>

export type EngineMode = 'stopped' | 'voting' | 'following' | 'quarantined' | 'failed'

export interface ConsensusStatus {
  readonly mode: EngineMode
  /** Nothing is being proposed or decided: the open height waits. */
  readonly isIdle: boolean
  readonly number: number
  readonly round: number
  readonly committeeSize: number
  readonly quorum: number
  /** Votes seen in the current round. */
  readonly prepares: number
  readonly commits: number
  /** Members not heard in the current round, from round 2 on: before that nobody is late yet. */
  readonly missing: readonly Hex[]
  /** Messages kept in memory, of the open height and of later ones. */
  readonly held: number
  /** Blocks kept in memory of the open height. */
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

/** The shell around the pure core: does its effects and nothing else. */
export interface ConsensusEngine {
  /** Replays the log, commits what was decided but not committed, and opens the next height. Throws when the log or the database contradict each other. */
  start(): Promise<void>
  /** Stops signing at once and waits for a write or commit under way. */
  stop(): Promise<void>
  /** How long before its time a block should be asked for, to be ready then. */
  readonly headStartMs: number
  /** Instant mode: there is a transaction. Cheap, idempotent, ignored otherwise. The block is not proposed before `dueMs`. */
  requestBlock(dueMs?: number): void
  /**
   * Leaves the open height for as long as `work` takes, so that nothing is signed meanwhile, and opens the one after the head then,
   * also when the work fails. What was signed stays in log and watermark: a height that was not overtaken goes on where it stood
   * (docs/design/consensus.md#catching-up, docs/design/network.md#block-sync). Rejects with ENGINE_STOPPED, or as the work does.
   */
  catchUp(work: CatchUp): Promise<void>
  /** Ends the engine for a reason from outside: it signs nothing from now on, and `onFatal` is told. */
  giveUp(reason: Error): void
  status(): ConsensusStatus
}
