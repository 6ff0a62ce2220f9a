import { LIMITS } from '../config/limits.ts'
import { assert } from '../util/assert.ts'
import { Admission } from './admission.ts'
import { type Committee, quorumOf } from './committee.ts'
import type { Effect, Input, TimerName, WalRecord } from './core/types.ts'
import { createCore, step } from './core.ts'
import type { ConsensusEngine, ConsensusEngineOptions, ConsensusStatus, EngineMode } from './engine-types.ts'
import { accusedBy, type Evidence } from './evidence/evidence.ts'
import { Journal } from './journal.ts'
import { readExtraData } from './judge.ts'
import type { ConsensusMessage } from './messages.ts'
import { Neighbours } from './neighbours.ts'
import { isInstant } from './pacing.ts'
import type { DecidedBlock, Head, PeerId } from './ports.ts'
import { type QuarantineReason, recoverMemory } from './recovery.ts'
import { Slots } from './slots.ts'
import { missingMembers, Tally } from './tally.ts'
import { Timers } from './timers.ts'
import { Validator } from './validator.ts'
import { createVerifier } from './verify.ts'
import { Workbench } from './workbench.ts'

/** The consensus of this node over its ports. */
export const createConsensusEngine = (options: ConsensusEngineOptions): ConsensusEngine => new Engine(options)

/** A committee of one has nobody to wait for. */
const ALONE =
  'and no block comes, since nobody else can decide one. If no other node has seen a vote of the lost log, vouch for that with --trust-missing-log.'

/** The loop around the core: what comes in is fed to it one at a time, and what it answers is carried out in order. */
class Engine implements ConsensusEngine {
  readonly #options: ConsensusEngineOptions
  readonly #core
  readonly #admission: Admission
  readonly #journal: Journal
  readonly #neighbours: Neighbours
  readonly #slots: Slots
  readonly #tally = new Tally()
  readonly #timers: Timers<TimerName>
  readonly #validator: Validator
  readonly #work: Workbench
  #state: 'stopped' | 'running' | 'failed' = 'stopped'
  #head: Head
  #inputs: Input[] = []
  #turning = false
  #unsubscribe: () => void = () => {}
  #committing: Promise<void> | null = null

  constructor(options: ConsensusEngineOptions) {
    const { params, ports, clock } = options
    const { consensus } = LIMITS
    const fail = (error: unknown) => this.#fail(error)
    const verifier = createVerifier(params, options.recover, consensus.cachedSignatures)
    this.#options = options
    this.#head = ports.execution.head()
    this.#admission = new Admission({
      committees: ports.committee,
      verifier,
      onEvidence: (evidence, committee) => this.#onEvidence(evidence, committee),
    })
    this.#journal = new Journal(options, fail)
    this.#neighbours = new Neighbours(ports.execution, (to, message) => {
      this.#journal.whenDurable(() => ports.network.send(to, message))
      this.#journal.flush()
    })
    this.#slots = new Slots(params.blockTimeMs)
    this.#timers = new Timers(clock)
    this.#validator = new Validator(options)
    const feed = (input: Input) => this.#feed(input)
    this.#work = new Workbench({ options, verifier, head: () => this.#head, feed, onError: fail })
    this.#core = createCore({
      ...consensus,
      baseTimeoutMs: params.roundTimeoutMs,
      proposerOf: block => readExtraData(block)?.proposer,
    })
  }

  async start(): Promise<void> {
    assert(this.#state === 'stopped', 'an engine starts once')
    const memory = await recoverMemory(this.#options)
    this.#head = memory.head
    this.#validator.restore(memory)
    this.#state = 'running'
    if (memory.quarantine !== null) await this.#enterQuarantine(memory.quarantine)
    else if (this.#options.signer !== null) await this.#journal.open(memory.head)
    this.#unsubscribe = this.#options.ports.network.onMessage((message, from) => this.#onMessage(message, from))
    this.#openHeight(memory.records)
  }

  async stop(): Promise<void> {
    if (this.#state === 'running') this.#state = 'stopped'
    this.#unsubscribe()
    this.#timers.cancelAll()
    this.#work.abort()
    this.#inputs = []
    await this.#journal.silence()
    await this.#committing
    // They read state and database, which the caller closes next.
    await this.#work.settled()
    await this.#journal.close({ write: this.#state !== 'failed' })
  }

  requestBlock(): void {
    if (!isInstant(this.#options.params.blockTimeMs)) return
    this.#slots.request()
    this.#feed({ type: 'request', nowMs: this.#nowMs() })
  }

  status(): ConsensusStatus {
    return this.#tally.status(this.#mode(), this.#core.height, this.#head.number)
  }

  #mode(): EngineMode {
    if (this.#state !== 'running') return this.#state
    return this.#validator.isQuarantined ? 'quarantined' : 'voting'
  }

  #nowMs(): number {
    return this.#options.clock.nowMs()
  }

  /** Runs the core until it has nothing to do. A signature asked for is given before anything else comes in. */
  #feed(input: Input): void {
    if (this.#state !== 'running') return
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
    this.#journal.flush()
  }

  /** Carries out one effect; only `sign` has an answer. */
  #perform(effect: Effect): Input | undefined {
    const { network } = this.#options.ports
    switch (effect.type) {
      case 'sign':
        return this.#sign(effect.message)
      case 'persist':
        this.#journal.record(effect.record)
        break
      case 'broadcast':
        this.#journal.whenDurable(() => network.broadcast(effect.message))
        break
      case 'send':
        this.#journal.whenDurable(() => network.send(effect.to, effect.message))
        break
      case 'sendDecided':
        this.#neighbours.sendDecided(effect.to, effect.number).catch(error => this.#fail(error))
        break
      case 'schedule':
        this.#schedule(effect)
        break
      case 'build':
        this.#slots.building()
        this.#work.build(effect)
        break
      case 'validate':
        this.#work.judge(effect)
        break
      case 'decide':
        this.#journal.whenDurable(() => this.#decide(effect))
        break
      case 'behind':
        this.#options.logger.info({ number: effect.number, head: this.#head.number }, 'others are ahead')
        break
    }
    return undefined
  }

  #sign(message: Extract<Effect, { type: 'sign' }>['message']): Input | undefined {
    const index = this.#core.height?.config.index ?? -1
    if (index < 0 || this.#state !== 'running') return undefined
    const signed = this.#validator.sign(message, index)
    if (signed === undefined) return undefined
    if (signed.type === 'roundChange') this.#onRoundChange(signed.round)
    return { type: 'signed', message: signed, nowMs: this.#nowMs() }
  }

  #onRoundChange(round: number): void {
    const { height } = this.#core
    this.#tally.roundChanges++
    const number = height?.config.number
    const { logger } = this.#options
    if (round < 2 || height === null) logger.info({ number, round }, 'changing round')
    else logger.warn({ number, round, missing: missingMembers(height) }, 'no decision yet, changing round')
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

  #decide(decided: DecidedBlock): void {
    this.#committing = this.#commit(decided).catch(error => this.#fail(error))
  }

  /** The block is final: durable in the database first, then the log may forget its height and the next one opens. */
  async #commit({ block, certificate }: DecidedBlock): Promise<void> {
    const { number, timestamp } = block.header
    const { hash } = block
    const height = this.#core.height
    assert(height !== null, 'a decision belongs to a height')
    this.#tally.countDecision(certificate.round, this.#work.elapsedMs)
    await this.#options.ports.execution.commit(block, certificate)
    this.#head = { number, hash, timestamp, certificate }
    this.#slots.committed(block)
    const { members, index } = height.config
    const maySpeak = this.#validator.decided({ block, certificate }, { members }, height.learntFrom !== null)
    if (index >= 0 && !this.#validator.isQuarantined) await this.#journal.endHeight({ number, hash })
    if (maySpeak) await this.#leaveQuarantine()
    if (this.#state === 'running') this.#openHeight([])
  }

  #openHeight(records: readonly WalRecord[]): void {
    const number = this.#head.number + 1
    const { ports } = this.#options
    const committee = ports.committee.committee(number)
    assert(committee !== undefined, 'the committee of the next height is known')
    const earliestMs = this.#slots.next(this.#head.timestamp, this.#nowMs())
    const { members } = committee
    const config = {
      number,
      parentHash: this.#head.hash,
      members,
      index: this.#validator.indexIn(committee),
      earliestMs,
    }
    this.#feed({ type: 'newHeight', config, records, nowMs: this.#nowMs() })
    if (this.#slots.mayWantBlock && ports.execution.wantsBlock()) this.requestBlock()
  }

  async #enterQuarantine(reason: QuarantineReason): Promise<void> {
    const { signer, trustMissingLog = false, logger, ports } = this.#options
    const { number } = this.#head
    if (signer === null) return
    if (trustMissingLog) {
      logger.warn({ reason, number }, "voting without the log, on the operator's word")
      await this.#journal.beginAfter(this.#head)
      return
    }
    const { upTo } = this.#validator.quarantine(reason, number)
    const alone = ports.committee.committee(number + 1)?.members.length === 1
    logger.error(
      { reason, number, silentUpTo: upTo, alone },
      `the consensus log is missing or damaged: following only, ${alone ? ALONE : 'until others decided the heights this validator may have voted in'}`,
    )
  }

  async #leaveQuarantine(): Promise<void> {
    await this.#journal.beginAfter(this.#head)
    if (this.#state !== 'running') return
    this.#validator.release()
    this.#options.logger.info({ number: this.#head.number + 1 }, 'voting again')
  }

  #onMessage(message: ConsensusMessage, from: PeerId): void {
    if (this.#state !== 'running') return
    const admitted = this.#admission.admit(message, {
      head: this.#head.number,
      wanted: this.#core.height?.wanted ?? null,
    })
    if (admitted === 'false') {
      this.#tally.rejectedMessages++
      this.#options.ports.network.misbehaved?.(from)
    }
    if (admitted !== 'true') return
    this.#listen(message)
    this.#feed({ type: 'message', message, from, nowMs: this.#nowMs() })
  }

  #listen(message: ConsensusMessage): void {
    if (!('sender' in message)) return
    const committee = this.#options.ports.committee.committee(message.number)
    assert(committee !== undefined, 'a message is admitted against its committee')
    this.#guard(() => this.#validator.heard(message, committee))
  }

  /** Stops when somebody else signs with this validator's key. */
  #guard(notice: () => void): void {
    try {
      notice()
    } catch (error) {
      this.#fail(error)
    }
  }

  #onEvidence(evidence: Evidence, committee: Committee): void {
    const { number, sender } = accusedBy(evidence)
    const validator = committee.members[sender]
    if (validator === this.#validator.address) {
      this.#guard(() => this.#validator.accused(accusedBy(evidence)))
      return
    }
    this.#tally.evidence++
    this.#options.logger.warn({ kind: evidence.kind, number, validator }, 'validator breaks the protocol')
    this.#options.ports.evidence?.report(evidence)
  }

  /** Whatever is wrong, this node must not vote on it. */
  #fail(cause: unknown): void {
    if (this.#state !== 'running') return
    const error = cause instanceof Error ? cause : new Error(String(cause))
    this.#state = 'failed'
    this.#timers.cancelAll()
    this.#unsubscribe()
    this.#inputs = []
    this.#options.logger.error({ err: error, number: this.#head.number + 1 }, 'consensus stopped')
    this.#options.onFatal(error)
  }
}
