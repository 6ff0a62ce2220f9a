import { LIMITS } from '../config/limits.ts'
import type { Block } from '../primitives/block.ts'
import type { Certificate } from '../primitives/certificate.ts'
import { assert } from '../util/assert.ts'
import { CodedError } from '../util/errors.ts'
import { Admission } from './admission.ts'
import { type Committee, quorumOf } from './committee.ts'
import type { Effect, HeightConfig, Input, TimerName, WalRecord } from './core/types.ts'
import { createCore, step } from './core.ts'
import type {
  ConsensusEngine,
  ConsensusEngineOptions,
  ConsensusStatus,
  EngineMode,
  KeyInUseError,
} from './engine-types.ts'
import { accusedBy, type Evidence } from './evidence/evidence.ts'
import { judge, readExtraData } from './judge.ts'
import type { ConsensusMessage, SignedMessage } from './messages.ts'
import { Outbox } from './outbox.ts'
import { earliestProposalMs, isInstant, timestampAt } from './pacing.ts'
import type { Head, PeerId } from './ports.ts'
import { indexOf, isForeign, type QuarantineReason, recoverMemory } from './recovery.ts'
import { digestOf, signMessage } from './signing.ts'
import { Timers } from './timers.ts'
import { createVerifier } from './verify.ts'
import { encodeRecord } from './wal-records.ts'

/** The consensus of this node over its ports. */
export const createConsensusEngine = (options: ConsensusEngineOptions): ConsensusEngine => new Engine(options)

/** Heights others must decide before a node that lost its memory votes again (reference/consensus.md 1.11). */
const QUARANTINE_HEIGHTS = 2
/** A committee of one has nobody to wait for. */
const ALONE =
  'and no block comes, since nobody else can decide one. If no other node has seen a vote of the lost log, vouch for that with --trust-missing-log.'

class Engine implements ConsensusEngine {
  readonly #options: ConsensusEngineOptions
  readonly #core
  readonly #verifier
  readonly #admission
  readonly #timers: Timers<TimerName>
  readonly #outbox: Outbox
  #mode: EngineMode = 'stopped'
  #head: Head
  #inputs: Input[] = []
  #turning = false
  #unsubscribe: () => void = () => {}
  /** Height up to which, inclusive, a quarantined node only follows. */
  #silentUpTo = 0
  #committing: Promise<void> | null = null
  #building: Promise<void> | null = null
  /** Proposals being judged. */
  readonly #judging = new Tasks(error => this.#fail(error))
  readonly #stopping = new AbortController()
  #lastSlotMs = 0
  /** Instant mode: a request came after the last build began; the last block had transactions. */
  #requested = false
  #fruitful = true
  #proposedAtMs = 0
  readonly #counts = {
    decided: 0,
    decidedLate: 0,
    roundChanges: 0,
    evidence: 0,
    rejectedMessages: 0,
    lastDecisionMs: 0,
  }

  constructor(options: ConsensusEngineOptions) {
    const { params, ports, clock, wal, watermark } = options
    this.#options = options
    this.#head = ports.execution.head()
    const { consensus } = LIMITS
    this.#verifier = createVerifier(params, options.recover, consensus.cachedSignatures)
    this.#admission = new Admission({
      committees: ports.committee,
      verifier: this.#verifier,
      onEvidence: (evidence, committee) => this.#onEvidence(evidence, committee),
    })
    this.#timers = new Timers(clock)
    this.#outbox = new Outbox([wal, watermark], error => this.#fail(error))
    this.#core = createCore({
      ...consensus,
      baseTimeoutMs: params.roundTimeoutMs,
      proposerOf: block => readExtraData(block)?.proposer,
    })
  }

  async start(): Promise<void> {
    assert(this.#mode === 'stopped', 'an engine starts once')
    const { head, records, quarantine } = await recoverMemory(this.#options)
    this.#head = head
    this.#mode = 'voting'
    if (quarantine !== null) await this.#enterQuarantine(quarantine)
    this.#unsubscribe = this.#options.ports.network.onMessage((message, from) => this.#onMessage(message, from))
    this.#openHeight(records)
  }

  async stop(): Promise<void> {
    if (this.#mode !== 'failed') this.#mode = 'stopped'
    this.#unsubscribe()
    this.#timers.cancelAll()
    this.#stopping.abort()
    this.#inputs = []
    await this.#outbox.close()
    await this.#committing
    // They read state and database, which the caller closes next.
    await this.#building
    await this.#judging.settled()
    const { wal, watermark } = this.#options
    if (this.#mode === 'stopped') for (const store of [wal, watermark]) await store.take()()
    await wal.close()
    await watermark.close()
  }

  requestBlock(): void {
    if (!isInstant(this.#options.params.blockTimeMs)) return
    this.#requested = true
    this.#feed({ type: 'request', nowMs: this.#nowMs() })
  }

  status(): ConsensusStatus {
    const height = this.#core.height
    const size = height?.config.members.length ?? 0
    return {
      mode: this.#mode === 'voting' && height?.config.index === -1 ? 'following' : this.#mode,
      isIdle: height !== null && height.building === null && height.proposals.size === 0 && height.decided === null,
      number: height?.config.number ?? this.#head.number,
      round: height?.round ?? 0,
      committeeSize: size,
      quorum: quorumOf(size),
      prepares: height === null ? 0 : [...height.prepares.senders(height.round)].length,
      commits: height === null ? 0 : [...height.commits.senders(height.round)].length,
      ...this.#counts,
    }
  }

  #nowMs(): number {
    return this.#options.clock.nowMs()
  }

  /** Runs the core until it has nothing to do. A signature asked for is given before anything else comes in. */
  #feed(input: Input): void {
    if (this.#mode === 'stopped' || this.#mode === 'failed') return
    this.#inputs.push(input)
    if (this.#turning) return
    this.#turning = true
    try {
      for (let next = this.#inputs.shift(); next !== undefined; next = this.#inputs.shift()) {
        const { effects } = step(this.#core, next)
        const answers = effects.flatMap(effect => this.#perform(effect) ?? [])
        this.#inputs.unshift(...answers)
      }
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#turning = false
    }
    this.#outbox.flush()
  }

  /** Carries out one effect; only `sign` has an answer. */
  #perform(effect: Effect): Input | undefined {
    const { network } = this.#options.ports
    switch (effect.type) {
      case 'sign':
        return this.#sign(effect.message)
      case 'persist':
        this.#persist(effect.record)
        break
      case 'broadcast':
        this.#outbox.push(() => network.broadcast(effect.message))
        break
      case 'send':
        this.#outbox.push(() => network.send(effect.to, effect.message))
        break
      case 'sendDecided':
        this.#detach(this.#sendDecided(effect.to, effect.number))
        break
      case 'schedule':
        this.#schedule(effect)
        break
      case 'build':
        this.#building = this.#build(effect.number, effect.round).catch(error => this.#fail(error))
        break
      case 'validate':
        this.#judging.add(this.#validate(effect))
        break
      case 'decide':
        this.#outbox.push(() => this.#decide(effect.block, effect.certificate))
        break
      case 'behind':
        this.#options.logger.info({ number: effect.number, head: this.#head.number }, 'others are ahead')
        break
    }
    return undefined
  }

  #sign(message: Extract<Effect, { type: 'sign' }>['message']): Input | undefined {
    const { signer, watermark, params, logger } = this.#options
    const index = this.#core.height?.config.index ?? -1
    if (signer === null || index < 0 || this.#mode !== 'voting') return undefined
    if (message.type === 'roundChange') this.#onRoundChange(message.round)
    try {
      const signed = signMessage(message, index, { domain: params, signer, watermark })
      return { type: 'signed', message: signed, nowMs: this.#nowMs() }
    } catch (error) {
      // Never sign against the watermark; the height goes on without this vote.
      logger.error({ err: error, kind: message.type, ...placeOf(message) }, 'signing refused')
      return undefined
    }
  }

  #onRoundChange(round: number): void {
    this.#counts.roundChanges++
    const { number } = this.status()
    if (round > 1) this.#options.logger.warn({ number, round, ...this.#missing() }, 'no decision yet, changing round')
    else this.#options.logger.info({ number, round }, 'changing round')
  }

  /** Members this height has not heard a vote from, for the operator. */
  #missing(): { readonly missing: readonly string[] } {
    const height = this.#core.height
    if (height === null) return { missing: [] }
    const heard = new Set([
      ...height.prepares.senders(height.round),
      ...height.roundChanges.keys(),
      height.config.index,
    ])
    return { missing: height.config.members.filter((_, index) => !heard.has(index)) }
  }

  #persist(record: WalRecord): void {
    const { type, payload } = encodeRecord(record, this.#options.ports.blocks)
    this.#options.wal.append(type, payload)
  }

  #schedule({ timer, number, round, atMs }: Extract<Effect, { type: 'schedule' }>): void {
    const fire = () =>
      this.#feed({ type: 'timeout', timer, number, round, isolated: this.#isIsolated(), nowMs: this.#nowMs() })
    this.#timers.set(timer, atMs, fire)
  }

  #isIsolated(): boolean {
    const members = this.#core.height?.config.members ?? []
    const reachable = this.#options.ports.network.reachable?.(members) ?? members.length
    return reachable < quorumOf(members.length) - 1
  }

  async #build(number: number, round: number): Promise<void> {
    const { ports, params, signer, logger } = this.#options
    assert(signer !== null, 'only a member builds')
    this.#requested = false
    this.#proposedAtMs = this.#nowMs()
    const { hash, timestamp, certificate } = this.#head
    try {
      const block = await ports.execution.build({
        number,
        round,
        parentHash: hash,
        timestamp: timestampAt(params.blockTimeMs, timestamp, this.#nowMs()),
        proposer: signer.address,
        parentCertificate: certificate,
      })
      this.#feed({ type: 'built', number, round, block, nowMs: this.#nowMs() })
    } catch (error) {
      logger.error({ err: error, number, round }, 'block not built')
      this.#feed({ type: 'buildFailed', number, round, nowMs: this.#nowMs() })
    }
  }

  async #validate({ block, number, round, fresh }: Extract<Effect, { type: 'validate' }>): Promise<void> {
    this.#proposedAtMs = this.#nowMs()
    const context = { number, round, fresh }
    const verdict = await judge(
      block,
      context,
      this.#head,
      this.#options,
      this.#verifier.recover,
      this.#stopping.signal,
    )
    if (!verdict.valid) {
      this.#options.logger.warn({ number, round, hash: block.hash, reason: verdict.reason }, 'proposal refused')
    }
    this.#feed({ type: 'verdict', number, blockHash: block.hash, verdict, nowMs: this.#nowMs() })
  }

  async #sendDecided(to: PeerId, number: number): Promise<void> {
    const decided = await this.#options.ports.execution.decided(number)
    if (decided === undefined) return
    this.#outbox.push(() => this.#options.ports.network.send(to, { type: 'decided', ...decided }))
    this.#outbox.flush()
  }

  #decide(block: Block, certificate: Certificate): void {
    this.#committing = this.#commit(block, certificate).catch(error => this.#fail(error))
  }

  /** The block is final: durable in the database first, then the log may forget its height and the next one opens. */
  async #commit(block: Block, certificate: Certificate): Promise<void> {
    const { number, timestamp } = block.header
    this.#counts.decided++
    if (certificate.round > 0) this.#counts.decidedLate++
    this.#counts.lastDecisionMs = this.#nowMs() - this.#proposedAtMs
    await this.#options.ports.execution.commit(block, certificate)
    this.#head = { number, hash: block.hash, timestamp, certificate }
    this.#fruitful = block.transactions.length > 0
    await this.#endHeight(block)
    if (this.#mode === 'quarantined' && number >= this.#silentUpTo) await this.#leaveQuarantine()
    if (this.#mode === 'voting' || this.#mode === 'quarantined') this.#openHeight([])
  }

  async #endHeight(block: Block): Promise<void> {
    if ((this.#core.height?.config.index ?? -1) < 0) return
    const { wal, ports } = this.#options
    const end: WalRecord = { type: 'end', number: block.header.number, blockHash: block.hash }
    // Not worth a sync: a log without its end costs a restart the reading of one height.
    this.#persist(end)
    if (wal.sizeBytes < LIMITS.consensus.walBytes / 2 || this.#mode !== 'voting') return
    await this.#outbox.exclusively(async () => {
      await wal.take()()
      await wal.reset([encodeRecord(end, ports.blocks)])
    })
  }

  #openHeight(records: readonly WalRecord[]): void {
    const number = this.#head.number + 1
    const { ports, signer, params } = this.#options
    const committee = ports.committee.committee(number)
    assert(committee !== undefined, 'the committee of the next height is known')
    const earliestMs = isInstant(params.blockTimeMs)
      ? null
      : earliestProposalMs(params.blockTimeMs, this.#head.timestamp, this.#lastSlotMs)
    this.#lastSlotMs = Math.max(earliestMs ?? 0, this.#nowMs())
    const config: HeightConfig = {
      number,
      parentHash: this.#head.hash,
      members: committee.members,
      index: this.#mode === 'voting' ? indexOf(committee, signer?.address) : -1,
      earliestMs,
    }
    this.#feed({ type: 'newHeight', config, records, nowMs: this.#nowMs() })
    if (earliestMs === null && (this.#fruitful || this.#requested) && ports.execution.wantsBlock()) this.requestBlock()
  }

  async #enterQuarantine(reason: QuarantineReason): Promise<void> {
    const { watermark, signer, trustMissingLog = false, logger, ports } = this.#options
    const { number } = this.#head
    if (signer === null) return
    if (trustMissingLog) {
      logger.warn({ reason, number }, "voting without the log, on the operator's word")
      await this.#restartLog()
      return
    }
    this.#mode = 'quarantined'
    this.#silentUpTo = Math.max(number, watermark.last?.number ?? 0) + QUARANTINE_HEIGHTS
    const alone = ports.committee.committee(number + 1)?.members.length === 1
    logger.error(
      { reason, number, silentUpTo: this.#silentUpTo, alone },
      `the consensus log is missing or damaged: following only, ${alone ? ALONE : 'until others decided the heights this validator may have voted in'}`,
    )
  }

  async #leaveQuarantine(): Promise<void> {
    await this.#restartLog()
    if (this.#mode !== 'quarantined') return
    this.#mode = 'voting'
    this.#options.logger.info({ number: this.#head.number + 1 }, 'voting again')
  }

  /** Whatever an old log says, this node starts anew from here. */
  async #restartLog(): Promise<void> {
    const { number, hash } = this.#head
    const end = encodeRecord({ type: 'end', number, blockHash: hash }, this.#options.ports.blocks)
    await this.#outbox.exclusively(() => this.#options.wal.reset([end]))
  }

  #onMessage(message: ConsensusMessage, from: PeerId): void {
    const wanted = this.#core.height?.wanted ?? null
    const admitted = this.#admission.admit(message, { head: this.#head.number, wanted })
    if (admitted === 'false') this.#counts.rejectedMessages++
    if (admitted !== 'true') return
    if ('sender' in message) this.#noticeOwn(message)
    this.#feed({ type: 'message', message, from, nowMs: this.#nowMs() })
  }

  /**
   * An own vote seen on the network. In quarantine it says how far the lost log went; otherwise one that this node did not make
   * means that its key runs twice, and neither may go on.
   */
  #noticeOwn(message: SignedMessage): void {
    const { signer, ports, watermark, params } = this.#options
    if (signer === null || ports.committee.committee(message.number)?.members[message.sender] !== signer.address) return
    if (this.#mode === 'quarantined') {
      this.#silentUpTo = Math.max(this.#silentUpTo, message.number + QUARANTINE_HEIGHTS)
    } else if (this.#mode === 'voting' && isForeign(message, digestOf(params, message), watermark.last)) {
      this.#fail(new CodedError<KeyInUseError>({ code: 'KEY_IN_USE', ...placeOf(message) }))
    }
  }

  #onEvidence(evidence: Evidence, committee: Committee): void {
    const { number, sender } = accusedBy(evidence)
    this.#counts.evidence++
    const validator = committee.members[sender]
    this.#options.logger.warn({ kind: evidence.kind, number, validator }, 'validator breaks the protocol')
    this.#options.ports.evidence?.report(evidence)
  }

  #detach(work: Promise<void>): void {
    work.catch(error => this.#fail(error))
  }

  /** Whatever is wrong, this node must not vote on it. */
  #fail(cause: unknown): void {
    if (this.#mode === 'failed' || this.#mode === 'stopped') return
    const error = cause instanceof Error ? cause : new Error(String(cause))
    this.#mode = 'failed'
    this.#timers.cancelAll()
    this.#unsubscribe()
    this.#inputs = []
    this.#options.logger.error({ err: error, number: this.#head.number + 1 }, 'consensus stopped')
    this.#options.onFatal(error)
  }
}

/** Work under way that nobody waits for but a stop. */
class Tasks {
  readonly #running = new Set<Promise<void>>()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  add(work: Promise<void>): void {
    const task = work.catch(this.#onError).finally(() => this.#running.delete(task))
    this.#running.add(task)
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running)
  }
}

const placeOf = ({ number, round }: { readonly number: number; readonly round: number }) => ({ number, round })
