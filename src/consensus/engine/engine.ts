import { LIMITS } from '../../config/limits.ts'
import { Watch } from '../monitor/monitor.ts'
import { Tally } from '../monitor/stats.ts'
import { Validator } from '../signer/local-validator.ts'
import { createVerifier } from '../signer/signature-verifier.ts'
import { isInstant } from '../timing/block-time.ts'
import { Slots } from '../timing/pacemaker.ts'
import { recoverMemory } from '../wal/recovery.ts'
import { Journal } from '../wal/wal-writer.ts'
import { Workbench } from './block-producer.ts'
import { Loop } from './driver.ts'
import { Heights } from './height-manager.ts'
import { Life } from './lifecycle.ts'
import { Intake } from './message-handler.ts'
import type { CatchUp, ConsensusEngine, ConsensusEngineOptions, ConsensusStatus, EngineMode } from './types.ts'

/** The consensus of this node over its ports. */
export const createConsensusEngine = (options: ConsensusEngineOptions): ConsensusEngine => new Engine(options)

/** Puts the parts together, starts and stops them. */
class Engine implements ConsensusEngine {
  readonly #options: ConsensusEngineOptions
  readonly #life: Life
  readonly #journal: Journal
  readonly #validator: Validator
  readonly #tally = new Tally()
  readonly #work: Workbench
  readonly #loop: Loop
  readonly #heights: Heights
  readonly #intake: Intake

  constructor(options: ConsensusEngineOptions) {
    const { params, recover } = options
    const verifier = createVerifier(params, recover, LIMITS.consensus.cachedSignatures)
    this.#options = options
    this.#life = new Life(error => this.#onFailed(error))
    this.#journal = new Journal(options, error => this.#life.fail(error))
    this.#validator = new Validator(options)
    this.#work = new Workbench({
      options,
      verifier,
      head: () => this.#heights.head,
      feed: input => this.#loop.feed(input),
      hold: until => this.#journal.hold(until),
      onError: error => this.#life.fail(error),
    })
    const parts = {
      options,
      life: this.#life,
      journal: this.#journal,
      validator: this.#validator,
      slots: new Slots(params.blockTimeMs),
      tally: this.#tally,
      watch: new Watch({
        blockTimeMs: params.blockTimeMs,
        self: options.signer?.address,
        logger: options.logger,
        metrics: options.metrics,
      }),
      work: this.#work,
    }
    this.#loop = new Loop({ ...parts, onDecided: decided => this.#heights.decided(decided) })
    this.#heights = new Heights({ ...parts, loop: this.#loop })
    this.#intake = new Intake({ ...parts, verifier, loop: this.#loop, heights: this.#heights })
  }

  async start(): Promise<void> {
    const memory = await recoverMemory(this.#options)
    this.#validator.restore(memory)
    this.#life.begin()
    await this.#heights.restore(memory)
    this.#intake.open()
    this.#heights.open(memory.records)
  }

  async stop(): Promise<void> {
    this.#life.stop()
    this.#intake.close()
    this.#loop.end()
    this.#work.abort()
    await this.#journal.silence()
    // They read and write state and database, which the caller closes next.
    await this.#heights.settled()
    await this.#work.settled()
    await this.#journal.close({ write: this.#life.state !== 'failed' })
  }

  get headStartMs(): number {
    return this.#work.headStartMs
  }

  requestBlock(dueMs = 0): void {
    if (isInstant(this.#options.params.blockTimeMs)) this.#heights.request(dueMs)
  }

  catchUp(work: CatchUp): Promise<void> {
    return this.#heights.catchUp(work)
  }

  giveUp(reason: Error): void {
    this.#life.fail(reason)
  }

  status(): ConsensusStatus {
    return this.#tally.status(this.#mode(), this.#loop, this.#heights.head.number)
  }

  #mode(): EngineMode {
    const { state } = this.#life
    if (state !== 'running') return state
    if (this.#validator.isQuarantined) return 'quarantined'
    // Also between two heights, when there is no seat to look at.
    return this.#options.signer === null || this.#heights.isCatchingUp ? 'following' : 'voting'
  }

  #onFailed(error: Error): void {
    this.#intake.close()
    this.#loop.end()
    const { logger, onFatal } = this.#options
    logger.error({ err: error, number: this.#heights.head.number + 1 }, 'consensus stopped')
    onFatal(error)
  }
}
