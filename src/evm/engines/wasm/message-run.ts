import type { Hex } from '@tandem/base/bytes.ts'
import type { EvmFork } from '../../../config/forks.ts'
import type { Log } from '../../../primitives/receipt/log.ts'
import type { ExecutionRules } from '../../../rules/execution-rules.ts'
import type { Journal } from '../../../state/journal/journal.ts'
import type { EngineEnv } from '../../block-env.ts'
import {
  type EngineFailure,
  type EngineMessage,
  type EngineOptions,
  type EngineResult,
  gasBoundExceeded,
} from '../../engine.ts'
import { PRECOMPILE_REASON } from '../../failure-reasons.ts'
import { isPrecompile } from '../../moved-precompiles.ts'
import { SliceClock } from '../../slice-clock.ts'
import { transferLogOf } from '../transfer-logs.ts'
import { loadAccount, loadCode, loadSlot } from './load-state.ts'
import type { Machine } from './machine.ts'
import { effectsOf } from './message-effects.ts'
import { executionRulesOf, FORK_PLACES } from './message-rules.ts'
import { type MessageStart, startMessage } from './message-start.ts'
import { PrecompileCalls } from './precompile-calls.ts'
import { OUTCOME, REASONS, STATUS, WORD } from './protocol.ts'
import type { RunState } from './run-state.ts'
import { StepRecorder } from './step-recorder.ts'
import { writeChangesToJournal } from './write-changes.ts'

/** Bytes of logs between two checks: they cost more time after the message than while it runs. */
const LOG_BYTES_PER_LOOK = 256 * 1024

/** Gas between two checks of the clock. */
const SLICE_GAS = 200_000n
/** Responses to the module between two checks. */
const SERVICES_PER_LOOK = 32

const NO_EFFECTS = { logs: [], internal: [] }

/** Result of a message; undefined: it filled a region, or the system has no memory. */
export type RunEnd = EngineResult | undefined

/** One message on one machine. The journal is not written before the end. */
export class MessageRun implements RunState {
  readonly machine: Machine
  readonly journal: Journal
  readonly env: EngineEnv
  readonly rules: ExecutionRules
  readonly options: EngineOptions
  readonly steps: StepRecorder | undefined
  readonly #message: EngineMessage
  readonly #place: number
  /** Versions of the state under the journal, and of the storage in it, at the start of the message. */
  readonly #baseVersion: number
  readonly #versionBefore: number
  readonly #slices: SliceClock | undefined
  #logBytesSeen = 0
  readonly #precompiles: PrecompileCalls
  #created: Hex | null = null
  #status: number = STATUS.goesOn
  #services = 0

  constructor(machine: Machine, journal: Journal, env: EngineEnv, message: EngineMessage, options: EngineOptions) {
    this.machine = machine
    this.journal = journal
    this.env = env
    this.rules = executionRulesOf(env)
    this.#place = FORK_PLACES[this.rules.fork]
    this.options = options
    this.#message = message
    this.#baseVersion = journal.baseVersion
    this.#versionBefore = journal.storageVersion
    this.#slices = options.interrupt && new SliceClock(options.interrupt)
    this.#precompiles = new PrecompileCalls(this, !this.#isToPrecompile && !machine.isStepping)
    this.steps = machine.isStepping ? new StepRecorder(this) : undefined
    machine.hooks = this.steps
  }

  get #isToPrecompile(): boolean {
    const { to } = this.#message
    return to !== null && isPrecompile(this.rules, this.options.moves, to)
  }

  /** Synchronous where nothing is awaited. */
  run(): RunEnd | Promise<RunEnd> {
    const started = this.#begin()
    return started instanceof Promise ? started.then(start => this.#goFrom(start)) : this.#goFrom(started)
  }

  #drive(): RunEnd | Promise<RunEnd> {
    for (;;) {
      const pending = this.#step()
      if (pending === true) return this.#end()
      if (pending !== undefined) return this.#driveSlowly(pending)
    }
  }

  async #driveSlowly(first: Promise<void>): Promise<RunEnd> {
    await first
    for (;;) {
      const pending = this.#step()
      if (pending === true) return this.#end()
      if (pending !== undefined) await pending
    }
  }

  /** Runs until the host is needed and serves it; true: the message has ended. */
  #step(): Promise<void> | true | undefined {
    const { wasm } = this.machine
    let status = this.#status
    if (status === STATUS.goesOn || status === STATUS.paused) {
      status = this.machine.run(status === STATUS.paused || this.#services === 0 ? SLICE_GAS : 0n)
      this.#services++
    }
    this.#status = STATUS.goesOn
    switch (status) {
      case STATUS.needsAccount:
        return this.#paced(loadAccount(this, wasm.neededEntry()))
      case STATUS.needsSlot:
        return this.#paced(loadSlot(this, wasm.neededEntry()))
      case STATUS.needsCode:
        return this.#paced(loadCode(this, wasm.neededEntry()))
      case STATUS.needsBlockHash:
        return this.#paced(this.#provideBlockHash())
      case STATUS.needsPrecompile:
        return this.#callPrecompile(Number(wasm.neededNumber()))
      case STATUS.waits:
        return this.steps?.waiting
      case STATUS.paused:
        this.#status = STATUS.paused
        if (wasm.gasBoundReached() !== 0) throw gasBoundExceeded()
        return this.check()
      default:
        this.#status = status
        return true
    }
  }

  check(): Promise<void> | undefined {
    if (this.#slices === undefined) return undefined
    const { wasm } = this.machine
    const logBytes = wasm.logsEndAt() - wasm.logsStartAt()
    if (!this.#slices.isOver && logBytes < this.#logBytesSeen + LOG_BYTES_PER_LOOK) return undefined
    this.#logBytesSeen = logBytes
    return this.#slices.giveWay(logBytes)
  }

  #paced(pending: Promise<void> | undefined): Promise<void> | undefined {
    if (pending !== undefined || this.#services % SERVICES_PER_LOOK !== 0) return pending
    return this.check()
  }

  #begin(): MessageStart | Promise<MessageStart> {
    const { machine } = this
    const { gas, gasPrice, blobVersionedHashes } = this.#message
    machine.begin(this.env, this.rules.fork, this.#place, this.#versionBefore)
    if (this.steps !== undefined) machine.watch(this.steps.watches)
    machine.wasm.beginClock(gas, this.options.gasBound ?? gas)
    machine.setWord(WORD.gasPrice, gasPrice)
    if (blobVersionedHashes !== undefined) machine.putBlobHashes(blobVersionedHashes)
    return startMessage(this, this.#message)
  }

  #goFrom({ status, created }: MessageStart): RunEnd | Promise<RunEnd> {
    this.#status = status
    this.#created = created
    return this.#drive()
  }

  since(fork: EvmFork): boolean {
    return this.#place >= FORK_PLACES[fork]
  }

  #provideBlockHash(): Promise<void> | undefined {
    const number = Number(this.machine.wasm.neededNumber())
    const provide = (hash: Hex): void => {
      this.machine.putWord(hash)
      this.machine.wasm.provideHash()
    }
    const asked = this.options.blockHash?.(number)
    if (asked === undefined) {
      provide(this.env.blockHash(number))
      return undefined
    }
    return asked.then(provide)
  }

  #callPrecompile(number: number): Promise<void> | undefined {
    const status = this.#precompiles.call(number)
    if (status instanceof Promise) {
      return status.then(next => {
        this.#status = next
      })
    }
    this.#status = status
    return this.#paced(undefined)
  }

  #end(): RunEnd {
    const { wasm } = this.machine
    if (this.#status === STATUS.exhausted || wasm.isExhausted()) return undefined
    const outcome = wasm.outcomeOf()
    const discards = this.options.discards === true
    const destroyed = discards ? [] : writeChangesToJournal(this)
    // State that moved while the message ran may have given words of both versions.
    if (this.journal.baseVersion === this.#baseVersion)
      this.machine.keepSlots(this.#versionBefore, discards ? undefined : this.journal.storageVersion)
    const failure = this.#failureOf(outcome)
    const tracedLogs = this.options.transfers ? this.#ownTransfer(outcome) : undefined
    const { logs, internal } = discards ? NO_EFFECTS : effectsOf(this.machine, tracedLogs)
    const spareGas = wasm.spareGasOf()
    return {
      gasUsed: this.#message.gas - wasm.gasLeftOf(),
      refund: failure === null ? wasm.refundOf() : 0n,
      output: this.machine.copy(wasm.returnedAt(), wasm.outputSizeOf()),
      logs,
      internal,
      created: this.#created,
      destroyed: failure === null ? destroyed : [],
      failure,
      ...(spareGas >= 0n && { spareGas }),
      ...(tracedLogs && { tracedLogs }),
    }
  }

  /** Transfer of the message itself, which the module does not record. */
  #ownTransfer(outcome: number): Log[] {
    const { from, to, value } = this.#message
    const recipient = to ?? this.#created
    return outcome === OUTCOME.returned && value > 0n && recipient !== null
      ? [transferLogOf(from, recipient, value)]
      : []
  }

  #failureOf(outcome: number): EngineFailure | null {
    if (outcome === OUTCOME.returned) return null
    if (outcome === OUTCOME.reverted) return { kind: 'revert' }
    if (this.#isToPrecompile && this.#precompiles.failure !== undefined) {
      return this.#precompiles.failure === PRECOMPILE_REASON.revert
        ? { kind: 'revert' }
        : { kind: 'halt', reason: this.#precompiles.failure }
    }
    return { kind: 'halt', reason: REASONS[this.machine.wasm.failReason()] as string }
  }
}
