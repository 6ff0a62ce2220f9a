import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { CONSENSUS_LIMITS } from '../../config/limits/consensus.ts'
import {
  type BlockClaim,
  type ConsensusMessage,
  type MessageAcceptance,
  type SignedHead,
  signedHead,
} from '../../primitives/consensus/message.ts'
import type { PeerId } from '../../primitives/peer-id.ts'
import type { Committee } from '../committee.ts'
import { accusedIn, type Evidence } from '../evidence/evidence.ts'
import { ConsensusMonitor } from '../monitor/monitor.ts'
import { ConsensusStats, type ConsensusStatus, type EngineMode } from '../monitor/stats.ts'
import { LocalValidator } from '../signer/local-validator.ts'
import { createSignatureVerifier, type SignatureVerifier } from '../signer/signature-verifier.ts'
import { isInstantMode, Pacemaker } from '../timing/pacemaker.ts'
import { recoverState } from '../wal/recovery.ts'
import { WalWriter } from '../wal/wal-writer.ts'
import { BlockProducer } from './block-producer.ts'
import { Driver } from './driver.ts'
import { HeightManager } from './height-manager.ts'
import { Lifecycle } from './lifecycle.ts'
import { type ChainPosition, MessageValidator } from './message-validator.ts'
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

const NONE: ReadonlySet<Hex> = new Set()

interface MessageHandlerParts {
  readonly options: ConsensusEngineOptions
  readonly lifecycle: Lifecycle
  readonly validator: LocalValidator
  readonly stats: ConsensusStats
  readonly monitor: ConsensusMonitor
  readonly verifier: SignatureVerifier
  readonly driver: Driver
  readonly heightManager: HeightManager
}

/** Entry of messages: rejects unsigned ones, reports evidence of faults, and feeds the rest to the core. */
class MessageHandler {
  readonly #parts: MessageHandlerParts
  readonly #messageValidator: MessageValidator
  #unsubscribe: () => void = () => {}

  constructor(parts: MessageHandlerParts) {
    this.#parts = parts
    this.#messageValidator = new MessageValidator({
      committees: parts.options.ports.committee,
      verifier: parts.verifier,
      onEvidence: (evidence, committee) => this.#onEvidence(evidence, committee),
      onSigned: (message, committee) => parts.monitor.onMessage(message, committee),
    })
  }

  open(): void {
    this.#unsubscribe = this.#parts.options.ports.network.onMessage(
      (message, from) => this.#receive(message, from),
      (claim, from) => this.#validateClaim(claim, from),
    )
  }

  close(): void {
    this.#unsubscribe()
  }

  /** Handles a message; the result tells the network whether to relay it to peers that its author does not reach. */
  #receive(message: ConsensusMessage, from: PeerId): MessageAcceptance {
    const { options, lifecycle, driver } = this.#parts
    if (!lifecycle.isRunning) return 'ignore'
    const messageAcceptance = this.#blamed(this.#messageValidator.admit(message, this.#chainPosition), from)
    if (messageAcceptance !== 'accept') return messageAcceptance
    if ('sender' in message) lifecycle.guard(() => this.#noticeOwn(signedHead(message)))
    driver.feed({ type: 'message', message, from, nowMs: options.clock.nowMs() })
    driver.reported(message, from)
    return messageAcceptance
  }

  /** Called before a block is decoded: blocks that are known, unsigned or not needed are not decoded. */
  #validateClaim(claim: BlockClaim, from: PeerId): MessageAcceptance {
    const { lifecycle, driver } = this.#parts
    if (!lifecycle.isRunning || driver.knows(claim)) return 'ignore'
    const messageAcceptance = this.#blamed(this.#messageValidator.validateClaim(claim, this.#chainPosition), from)
    if (messageAcceptance !== 'accept') return messageAcceptance
    if (claim.type === 'proposal') lifecycle.guard(() => this.#noticeOwn(claim.head))
    return lifecycle.isRunning && driver.wantsBlockOf(claim) ? 'accept' : 'ignore'
  }

  get #chainPosition(): ChainPosition {
    const { heightManager, driver } = this.#parts
    const { round = 0, wanted = NONE } = driver.height ?? {}
    return { head: heightManager.head.number, round, wanted }
  }

  #blamed(messageAcceptance: MessageAcceptance, from: PeerId): MessageAcceptance {
    if (messageAcceptance !== 'reject') return messageAcceptance
    const { options, stats } = this.#parts
    stats.rejectedMessages++
    options.ports.network.misbehaved?.(from)
    return messageAcceptance
  }

  /** Throws when another process signs with this validator's key. */
  #noticeOwn(message: SignedHead): void {
    const { options, validator } = this.#parts
    const committee = options.ports.committee.committee(message.number)
    assert(committee !== undefined, 'a message is admitted against its committee')
    validator.heard(message, committee)
  }

  #onEvidence(evidence: Evidence, committee: Committee): void {
    const { options, lifecycle, validator, stats } = this.#parts
    const accused = accusedIn(evidence)
    const address = committee.members[accused.sender]
    if (address === validator.address) {
      lifecycle.guard(() => validator.accused(accused))
      return
    }
    stats.evidence++
    const { number } = accused
    options.logger.warn({ kind: evidence.kind, number, validator: address }, 'validator misbehaved')
    options.ports.evidence?.report(evidence)
  }
}
