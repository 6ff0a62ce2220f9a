import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { CONSENSUS_LIMITS } from '../../config/limits/consensus.ts'
import { CONSENSUS_BOUNDS } from '../../config/protocol-bounds.ts'
import { readExtraData } from '../../primitives/consensus/extra-data.ts'
import type { BlockClaim, ConsensusMessage, DecidedMessage } from '../../primitives/consensus/message.ts'
import type { PeerId } from '../../primitives/peer-id.ts'
import { proposerOf } from '../committee.ts'
import { createCore, step } from '../core/core.ts'
import { walCheckpoint } from '../core/effects.ts'
import { holdsProposal, wantsProposal } from '../core/messages/proposals.ts'
import { hasQuorumAtRound } from '../core/rounds.ts'
import type { Effect, HeightState, Input, TimerName, UnsignedMessage, WalRecord } from '../core/types.ts'
import type { ConsensusMonitor } from '../monitor/monitor.ts'
import { roundProgress, StallMonitor } from '../monitor/stall-monitor.ts'
import { type ConsensusStats, missingMembers, STALLED_ROUND } from '../monitor/stats.ts'
import type { DecidedBlock, ExecutionPort } from '../ports.ts'
import type { LocalValidator } from '../signer/local-validator.ts'
import type { Pacemaker } from '../timing/pacemaker.ts'
import type { WalWriter } from '../wal/wal-writer.ts'
import type { BlockProducer } from './block-producer.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { ConsensusEngineOptions } from './types.ts'

/** One timer per name; setting it replaces the previous one. */
class Timers<Name extends string> {
  readonly #clock: Clock
  readonly #cancels = new Map<Name, () => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  set(name: Name, atMs: number, fire: () => void): void {
    this.cancel(name)
    this.#cancels.set(name, this.#clock.schedule(atMs, fire))
  }

  cancel(name: Name): void {
    this.#cancels.get(name)?.()
    this.#cancels.delete(name)
  }

  cancelAll(): void {
    for (const name of [...this.#cancels.keys()]) this.cancel(name)
  }
}

/** Sends decided heights from the database to neighbours that are behind: one at a time for each, a bounded number in all. */
export class DecidedSender {
  readonly #execution: ExecutionPort
  readonly #send: (to: PeerId, message: DecidedMessage) => void
  readonly #served = new Set<PeerId>()

  constructor(execution: ExecutionPort, send: (to: PeerId, message: DecidedMessage) => void) {
    this.#execution = execution
    this.#send = send
  }

  /** Number of neighbours being served. */
  get size(): number {
    return this.#served.size
  }

  /** Sends a decided height. A request that arrives meanwhile, or when too many are under way, is dropped: the neighbour repeats it. */
  async sendDecided(to: PeerId, number: number): Promise<void> {
    if (this.#served.has(to) || this.#served.size >= CONSENSUS_LIMITS.answers) return
    this.#served.add(to)
    try {
      const decided = await this.#execution.decided(number)
      if (decided !== undefined) this.#send(to, { type: 'decided', ...decided })
    } finally {
      this.#served.delete(to)
    }
  }
}

interface DriverParts {
  readonly options: ConsensusEngineOptions
  readonly lifecycle: Lifecycle
  readonly walWriter: WalWriter
  readonly validator: LocalValidator
  readonly pacemaker: Pacemaker
  readonly stats: ConsensusStats
  readonly producer: BlockProducer
  readonly monitor: ConsensusMonitor
  /** Called when a decision is durable in the log. */
  readonly onDecided: (decided: DecidedBlock) => void
}

/** Event loop around the core: feeds it one input at a time and executes its effects in order. */
export class Driver {
  readonly #parts: DriverParts
  readonly #core
  readonly #decidedSender: DecidedSender
  readonly #timers: Timers<TimerName>
  #inputs: Input[] = []
  #isFeeding = false
  /** Records of a height that was left. */
  #left: readonly WalRecord[] = []
  readonly #stalls: StallMonitor
  /** Messages of the open height that wait for the first signature. */
  #unsigned: UnsignedMessage[] = []

  constructor(parts: DriverParts) {
    const { params, ports, clock, heldBlocks = CONSENSUS_LIMITS.heldBlocks } = parts.options
    this.#parts = parts
    this.#stalls = new StallMonitor(parts.options.logger)
    this.#decidedSender = new DecidedSender(ports.execution, (to, message) => {
      parts.walWriter.whenDurable(() => ports.network.send(to, message))
      parts.walWriter.flush()
    })
    this.#timers = new Timers(clock)
    this.#core = createCore({
      ...CONSENSUS_LIMITS,
      ...CONSENSUS_BOUNDS,
      heldBlocks,
      baseTimeoutMs: params.roundTimeoutMs,
      proposerOf: block => readExtraData(block.header)?.proposer,
    })
  }

  /** State of the open height. */
  get height(): HeightState | null {
    return this.#core.height
  }

  /** Members that delay the open height: unreachable ones when too many, else those not heard from once rounds pass. */
  get missing(): readonly Hex[] {
    const { height } = this
    if (height === null) return []
    if (height.opened && this.#isCutOff(height)) return this.#unreachable(height)
    return height.round >= STALLED_ROUND || this.#stalls.isStalled ? missingMembers(height) : []
  }

  /** Number of messages of heights not open yet. */
  get heldForLater(): number {
    return this.#core.future.size
  }

  /** Returns true when the block of a verified claim is worth decoding. */
  wantsBlockOf(claim: BlockClaim): boolean {
    if (claim.type === 'proposal') return wantsProposal(this.#core, claim.head)
    const { height } = this
    if (height === null) return false
    return claim.type === 'body' ? height.wanted.has(claim.blockHash) : height.decided === null
  }

  /** Returns true when a claim carries nothing new. */
  knows(claim: BlockClaim): boolean {
    if (claim.type === 'proposal') return holdsProposal(this.#core, claim.head)
    return claim.type === 'decided' && this.height?.decided?.block.hash === claim.blockHash
  }

  /** Runs the core until it has no more inputs. A requested signature is provided before any other input. */
  feed(input: Input): void {
    const { lifecycle, walWriter, monitor, producer } = this.#parts
    if (!lifecycle.isRunning) return
    this.#inputs.push(input)
    if (this.#isFeeding) return
    this.#isFeeding = true
    lifecycle.guard(() => {
      for (let next = this.#inputs.shift(); next !== undefined; next = this.#inputs.shift()) {
        if (next.type === 'newHeight' || next.type === 'leave') {
          monitor.heightChanged()
          producer.cancelAll()
          this.#unsigned = []
        }
        if (next.type === 'newHeight') this.#stalls.opened(next.config.number, next.nowMs)
        const { effects } = step(this.#core, next)
        const signed = effects.flatMap(effect => this.#perform(effect) ?? [])
        this.#inputs.unshift(...signed)
      }
    })
    this.#isFeeding = false
    walWriter.flush()
    if (walWriter.isLong) void lifecycle.watch(walWriter.shorten(() => this.#memory()))
  }

  /** Handles a verified message as a report of its sender's height; the first quorum of reports lets waiting messages be signed. */
  reported(message: ConsensusMessage, from: PeerId): void {
    const { height } = this
    const { validator } = this.#parts
    if (height === null) return
    const { config } = height
    validator.reported(message, from, config, config.number)
    if (this.#unsigned.length === 0 || !validator.maySign(config)) return
    const waiting = this.#unsigned.filter(({ round }) => round === height.round)
    this.#unsigned = []
    for (const message of waiting) {
      const signed = this.#sign(message)
      if (signed !== undefined) this.feed(signed)
    }
  }

  /** Stops all messages of the open height; returns the records that reopen it in its current state. */
  leave(): readonly WalRecord[] {
    this.#left = this.#memory()
    this.#timers.cancelAll()
    this.feed({ type: 'leave', nowMs: this.#nowMs() })
    return this.#left
  }

  /** Cancels all timers and drops waiting inputs. */
  end(): void {
    this.#timers.cancelAll()
    this.#inputs = []
  }

  /** Returns the records that the log must hold now. */
  #memory(): readonly WalRecord[] {
    return this.height === null ? this.#left : walCheckpoint(this.height)
  }

  /** Executes one effect; only `sign` returns an input. */
  #perform(effect: Effect): Input | undefined {
    const { options, walWriter, lifecycle, pacemaker, monitor, producer, onDecided } = this.#parts
    const { network } = options.ports
    if (effect.type !== 'build') monitor.onEffect(effect, this.#nowMs())
    switch (effect.type) {
      case 'sign':
        return this.#sign(effect.message)
      case 'persist':
        walWriter.record(effect.record)
        break
      case 'broadcast':
        walWriter.whenDurable(() => network.broadcast(effect.message))
        break
      case 'send':
        walWriter.whenDurable(() => network.send(effect.to, effect.message))
        break
      case 'sendDecided':
        void lifecycle.watch(this.#decidedSender.sendDecided(effect.to, effect.number))
        break
      case 'schedule':
        this.#schedule(effect)
        break
      case 'build': {
        const dueMs = pacemaker.building()
        monitor.onEffect(effect, Math.max(dueMs, this.#nowMs()))
        producer.build(effect, dueMs, this.height?.config.members.length === 1)
        break
      }
      case 'cancelBuild':
        producer.cancelBuild()
        break
      case 'validate':
        producer.validate(effect)
        break
      case 'cancelValidation':
        producer.cancelValidation(effect.blockHash)
        break
      case 'decide':
        walWriter.whenDurable(() => onDecided(effect))
        break
      case 'behind':
        options.logger.info(
          { number: effect.number, open: this.height?.config.number },
          'validators are at a later height',
        )
        break
    }
    return undefined
  }

  #sign(message: UnsignedMessage): Input | undefined {
    const { lifecycle, validator } = this.#parts
    const { height } = this
    if (height === null || height.config.index < 0 || !lifecycle.isRunning) return undefined
    if (!validator.maySign(height.config)) {
      this.#unsigned = [...this.#unsigned.filter(({ round }) => round === message.round), message]
      return undefined
    }
    const signed = validator.sign(message, height.config.index)
    if (signed === undefined) return undefined
    if (signed.type === 'roundChange') this.#onRoundChange(height, signed.round)
    return { type: 'signed', message: signed, nowMs: this.#nowMs() }
  }

  #onRoundChange(height: HeightState, round: number): void {
    const { stats, options, producer } = this.#parts
    const { number } = height.config
    stats.roundChanges++
    if (height.proposals.has(round - 1)) producer.missed()
    // Proposer of the round that is given up.
    const proposer = proposerOf(height.config, number, round - 1)
    const reached = roundProgress(height, round - 1)
    if (round < STALLED_ROUND) options.logger.info({ number, round, proposer, reached }, 'round change')
    else
      this.#stalls.roundGivenUp(
        { number, round, proposer, reached, missing: this.missing, ...this.#headAhead(height) },
        'round change, no decision yet',
        this.#nowMs(),
      )
  }

  /** Tells by how much the last block is ahead of this clock, since none can follow before its time. */
  #headAhead({ config }: HeightState): object {
    const aheadMs = (config.earliestMs ?? 0) - this.#nowMs()
    return aheadMs > 0 ? { headAheadSeconds: Math.ceil(aheadMs / 1_000) } : {}
  }

  #schedule({ timer, number, round, atMs }: Extract<Effect, { type: 'schedule' }>): void {
    const fire = () => {
      const { height } = this
      const isCutOff = height !== null && this.#isCutOff(height)
      const isAhead = height !== null && timer === 'round' && !hasQuorumAtRound(height)
      if (timer === 'round' && height !== null && (isCutOff || isAhead)) this.#onWaiting(height, isCutOff)
      const isolated = isCutOff || isAhead
      this.feed({ type: 'timeout', timer, number, round, isolated, nowMs: this.#nowMs() })
    }
    const headStartMs = timer === 'propose' ? this.#parts.producer.headStartMs : 0
    this.#timers.set(timer, atMs - headStartMs, fire)
  }

  /** Returns true when fewer members are reachable than a quorum needs. */
  #isCutOff({ config, quorum }: HeightState): boolean {
    const { members } = config
    const reachable = this.#parts.options.ports.network.reachable?.(members) ?? members.length
    return reachable < quorum - 1
  }

  /** Unreachable members; without a network that knows them, those without a vote. */
  #unreachable(height: HeightState): readonly Hex[] {
    return this.#parts.options.ports.network.unreachable?.(height.config.members) ?? missingMembers(height)
  }

  /** Warns while the round is kept, so that no round change reports the stall. Only of a member: others decide nothing. */
  #onWaiting(height: HeightState, isCutOff: boolean): void {
    const { number, index } = height.config
    if (index < 0) return
    const missing = isCutOff ? this.#unreachable(height) : missingMembers(height)
    this.#stalls.waits(
      { number, round: height.round, missing, ...this.#headAhead(height) },
      isCutOff
        ? 'no quorum reachable, waiting for committee members'
        : 'no decision yet, waiting for committee members to reach this round',
      this.#nowMs(),
    )
  }

  #nowMs(): number {
    return this.#parts.options.clock.nowMs()
  }
}
