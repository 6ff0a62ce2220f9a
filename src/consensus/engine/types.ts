import type { Hex } from '@tandem/base/bytes.ts'
import type { BlockCodec } from '../../primitives/block.ts'
import type { RecoverAddress } from '../certificate.ts'
import type { EvidencePort } from '../evidence/evidence.ts'
import type { ConsensusMetrics } from '../monitor/metrics.ts'
import type { ConsensusStatus } from '../monitor/stats.ts'
import type { CommitteePort, DecidedBlock, ExecutionPort, NetworkPort } from '../ports.ts'
import type { ValidatorKeyOptions } from '../signer/local-validator.ts'
import type { Wal } from '../wal/wal.ts'

export interface ConsensusParams {
  readonly chainId: number
  readonly genesisHash: Hex
  /** 0 = instant mode; fractions of a second are allowed (timing/pacemaker.ts). */
  readonly blockTimeMs: number
  readonly roundTimeoutMs: number
  /** Builds begin at their time, not ahead of it: transactions matter more than even blocks. */
  readonly isDevelopment?: boolean
}

export interface ConsensusEngineOptions extends ValidatorKeyOptions {
  readonly ports: {
    readonly execution: ExecutionPort
    readonly committee: CommitteePort
    readonly network: NetworkPort
    readonly blocks: BlockCodec
    /** Receives every proof against a validator; without it proofs are only logged. */
    readonly evidence?: EvidencePort
  }
  readonly recover: RecoverAddress
  readonly wal: Wal
  readonly params: ConsensusParams
  /** Called once when the engine has failed: it signs nothing any more, and the process should stop. */
  readonly onFatal: (error: Error) => void
  readonly metrics?: ConsensusMetrics
  /** Proposals of the open height that are kept; other bodies are requested by hash. */
  readonly heldBlocks?: number
}

/** The engine does not run, so it accepts no input. */
export type EngineStoppedError = { readonly code: 'ENGINE_STOPPED' }

/**
 * Imports blocks that others decided, in order; each must be verified to be final. `adopt` resolves when the block is the head, and
 * all of them are durable before the next height opens; a block at or below the head is skipped. It rejects with ENGINE_STOPPED or
 * with the failure of the commit.
 */
export type CatchUp = (adopt: (decided: DecidedBlock) => Promise<void>) => Promise<void>

/** Shell around the pure core: executes its effects and nothing else. */
export interface ConsensusEngine {
  /** Replays the log, commits what was decided, and opens the next height. Throws when log and database contradict each other. */
  start(): Promise<void>
  /** Stops signing at once and waits for a write or commit under way. */
  stop(): Promise<void>
  /** Signals a transaction in instant mode (else ignored); cheap and idempotent. The block is not proposed before `dueMs`. */
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
