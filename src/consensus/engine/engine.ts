import { isCoded } from '@tandem/base/errors.ts'
import { CONSENSUS_LIMITS } from '../../config/limits/consensus.ts'
import { ConsensusMonitor } from '../monitor/monitor.ts'
import { ConsensusStats, type ConsensusStatus, type EngineMode } from '../monitor/stats.ts'
import { LocalValidator } from '../signer/local-validator.ts'
import { createSignatureVerifier } from '../signer/signature-verifier.ts'
import { isInstantMode } from '../timing/block-time.ts'
import { Pacemaker } from '../timing/pacemaker.ts'
import { recoverState } from '../wal/recovery.ts'
import { WalWriter } from '../wal/wal-writer.ts'
import { BlockProducer } from './block-producer.ts'
import { Driver } from './driver.ts'
import { HeightManager } from './height-manager.ts'
import { Lifecycle } from './lifecycle.ts'
import { MessageHandler } from './message-handler.ts'
import type { CatchUp, ConsensusEngine, ConsensusEngineOptions } from './types.ts'

/** Creates the consensus engine of this node over its ports. */
export const createConsensusEngine = (options: ConsensusEngineOptions): ConsensusEngine => new Engine(options)

const isExpected = (error: Error): boolean => isCoded(error) || 'errno' in error

/** Facts of a known failure, as fields rather than as JSON in a text. */
const reasonOf = (error: Error): unknown => (isCoded(error) ? error.detail : error.message)

/** Constructs, starts and stops the parts of the engine. */
class Engine implements ConsensusEngine {
  readonly #options: ConsensusEngineOptions
  readonly #lifecycle: Lifecycle
  readonly #walWriter: WalWriter
  readonly #validator: LocalValidator
  readonly #stats = new ConsensusStats()
  readonly #producer: BlockProducer
  readonly #driver: Driver
  readonly #heightManager: HeightManager
  readonly #handler: MessageHandler

  constructor(options: ConsensusEngineOptions) {
    const { params, recover } = options
    const verifier = createSignatureVerifier(params, recover, CONSENSUS_LIMITS.cachedSignatures)
    this.#options = options
    this.#lifecycle = new Lifecycle(error => this.#onFailed(error))
    this.#walWriter = new WalWriter(options, error => this.#lifecycle.fail(error))
    this.#validator = new LocalValidator(options, () => this.#lifecycle.watch(this.#walWriter.discard()))
    this.#producer = new BlockProducer({
      options,
      verifier,
      head: () => this.#heightManager.head,
      feed: input => this.#driver.feed(input),
      hold: until => this.#walWriter.hold(until),
      onError: error => this.#lifecycle.fail(error),
    })
    const parts = {
      options,
      lifecycle: this.#lifecycle,
      walWriter: this.#walWriter,
      validator: this.#validator,
      pacemaker: new Pacemaker(params.blockTimeMs),
      stats: this.#stats,
      monitor: new ConsensusMonitor({
        blockTimeMs: params.blockTimeMs,
        self: options.signer?.address,
        logger: options.logger,
        metrics: options.metrics,
      }),
      producer: this.#producer,
    }
    this.#driver = new Driver({ ...parts, onDecided: decided => this.#heightManager.decided(decided) })
    this.#heightManager = new HeightManager({ ...parts, driver: this.#driver })
    this.#handler = new MessageHandler({ ...parts, verifier, driver: this.#driver, heightManager: this.#heightManager })
  }

  async start(): Promise<void> {
    const memory = await recoverState(this.#options)
    this.#validator.restore(memory)
    this.#lifecycle.begin()
    await this.#heightManager.restore(memory)
    this.#handler.open()
    this.#heightManager.open(memory.records)
  }

  async stop(): Promise<void> {
    this.#lifecycle.stop()
    this.#handler.close()
    this.#driver.end()
    this.#producer.abort()
    await this.#walWriter.silence()
    // They read and write state and database, which the caller closes next.
    await this.#heightManager.settled()
    await this.#producer.settled()
    await this.#walWriter.close({ write: this.#lifecycle.state !== 'failed' })
  }

  get headStartMs(): number {
    return this.#producer.headStartMs
  }

  requestBlock(dueMs = 0): void {
    if (isInstantMode(this.#options.params.blockTimeMs)) this.#heightManager.request(dueMs)
  }

  catchUp(work: CatchUp): Promise<void> {
    return this.#heightManager.catchUp(work)
  }

  giveUp(reason: Error): void {
    this.#lifecycle.fail(reason)
  }

  status(): ConsensusStatus {
    return this.#stats.status(this.#mode(), this.#driver, this.#heightManager.head.number)
  }

  #mode(): EngineMode {
    const { state } = this.#lifecycle
    if (state !== 'running') return state
    if (this.#validator.isQuarantined) return 'quarantined'
    // Also between two heights, when no committee index is set.
    return this.#options.signer === null || this.#heightManager.isCatchingUp ? 'following' : 'voting'
  }

  #onFailed(error: Error): void {
    this.#handler.close()
    this.#driver.end()
    const { logger, onFatal } = this.#options
    const number = this.#heightManager.head.number + 1
    // A known failure, such as that of a full disk, is explained at the end of the process.
    logger.error({ number, ...(isExpected(error) ? { reason: reasonOf(error) } : { err: error }) }, 'consensus stopped')
    onFatal(error)
  }
}
