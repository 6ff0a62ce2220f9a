import { EVM_FORKS, type EvmFork } from '../../../config/forks.ts'
import { initCodeSizeLimit } from '../../../rules/code-size.ts'
import { type ExecutionRules, executionRulesAt } from '../../../rules/execution-rules.ts'
import type { Journal } from '../../../state/journal/journal.ts'
import { EMPTY_BYTES, type Hex } from '../../../util/bytes.ts'
import { CodedError } from '../../../util/errors.ts'
import type { BlockEnv } from '../../block-env.ts'
import type { EngineFailure, EngineMessage, EngineOptions, EngineResult, InterruptedError } from '../../engine.ts'
import { gasBoundExceeded } from '../gas-bound.ts'
import { loadAccount, loadCode, loadSlot } from './load-state.ts'
import type { Machine } from './machine.ts'
import { effectsOf } from './message-effects.ts'
import type { PrecompileResult } from './precompile-host.ts'
import { MAX_BLOBS, OUTCOME, REASONS, STATUS, WORD } from './protocol.ts'
import { type QuickPrecompiles, quickPrecompilesAt } from './quick-precompiles.ts'
import type { RunState } from './run-state.ts'
import { writeChangesToJournal } from './write-changes.ts'

/** Gas between two checks of the clock. */
const SLICE_GAS = 200_000n
/** Responses to the module between two checks. */
const SERVICES_PER_LOOK = 32

/** Bytes of logs between two checks: they cost more time after the message than while it runs. */
const LOG_BYTES_PER_LOOK = 256 * 1024

/** Result of a message, or the reason to run it on the other engine: more than 100 M gas filled a region, or it is not supported. */
export type RunEnd = EngineResult | 'exhausted' | 'unusual'

/** One message on one machine. The journal is not written before the end. */
export class MessageRun implements RunState {
  readonly machine: Machine
  readonly journal: Journal
  readonly env: BlockEnv
  readonly rules: ExecutionRules
  readonly options: EngineOptions
  readonly #message: EngineMessage
  readonly #place: number
  /** Versions of the state under the journal, and of the storage in it, at the start of the message. */
  readonly #baseVersion: number
  readonly #versionBefore: number
  #created: Hex | null = null
  #status: number = STATUS.goesOn
  #sliceEndMs: number
  #services = 0
  #logBytesSeen = 0
  /** Failure of the last precompile. */
  #precompileFailure: string | undefined = undefined

  constructor(machine: Machine, journal: Journal, env: BlockEnv, message: EngineMessage, options: EngineOptions) {
    this.machine = machine
    this.journal = journal
    this.env = env
    this.rules = rulesOf(env)
    this.#place = PLACES[this.rules.fork]
    this.options = options
    this.#message = message
    this.#baseVersion = journal.baseVersion
    this.#versionBefore = journal.storageVersion
    this.#sliceEndMs = options.interrupt === undefined ? 0 : performance.now() + options.interrupt.sliceMs
  }

  /** Synchronous where nothing is awaited. */
  run(): RunEnd | Promise<RunEnd> {
    const started = this.#begin()
    if (started instanceof Promise) return started.then(() => this.#drive())
    return this.#drive()
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
      case STATUS.paused:
        this.#status = STATUS.paused
        this.machine.compileHot()
        if (wasm.gasBoundReached() !== 0) throw gasBoundExceeded()
        return this.check()
      default:
        this.#status = status
        return true
    }
  }

  #paced(pending: Promise<void> | undefined): Promise<void> | undefined {
    if (pending !== undefined || this.#services % SERVICES_PER_LOOK !== 0) return pending
    return this.check()
  }

  get #logBytes(): number {
    const { wasm } = this.machine
    return wasm.logsEndAt() - wasm.logsStartAt()
  }

  /** Returns a promise when the time slice is over, or when logs became many; it rejects when the message must stop. */
  check(): Promise<void> | undefined {
    if (this.options.interrupt === undefined) return undefined
    if (performance.now() < this.#sliceEndMs && this.#logBytes < this.#logBytesSeen + LOG_BYTES_PER_LOOK)
      return undefined
    return this.#giveWay()
  }

  async #giveWay(): Promise<void> {
    const { interrupt } = this.options
    if (interrupt === undefined) return
    this.#logBytesSeen = this.#logBytes
    await (interrupt.giveWay?.() ?? new Promise<void>(resolve => setImmediate(resolve)))
    if (interrupt.shouldStop(this.#logBytesSeen))
      throw new CodedError<InterruptedError>({ code: 'EXECUTION_INTERRUPTED' })
    this.#sliceEndMs = performance.now() + interrupt.sliceMs
  }

  #begin(): Promise<void> | undefined {
    const { machine, env } = this
    const { gas, gasPrice, from, to, blobVersionedHashes } = this.#message
    machine.begin(env, this.rules.fork, this.#place, this.#versionBefore)
    machine.wasm.beginClock(gas, this.options.gasBound ?? gas)
    machine.setWord(WORD.gasPrice, gasPrice)
    if (blobVersionedHashes !== undefined) machine.putBlobHashes(blobVersionedHashes)
    const sender = machine.senderOf(from, this.since('berlin'), this.since('shanghai'))
    const target = to === null ? 0 : machine.entryOf(to)
    if (this.since('berlin')) this.#warmUp(target)
    return to === null ? this.#beginCreation(sender) : this.#beginCall(sender, target)
  }

  /** EIP-2929, EIP-2930, EIP-3651; precompiles are warm from the moment they are loaded. */
  #warmUp(target: number): void {
    const { machine } = this
    const { warm, accessList } = this.#message
    if (target !== 0) machine.wasm.warm(target)
    if (accessList.length === 0 && (warm === undefined || warm.length === 0)) return
    const warmAddress = (address: Hex): number => {
      const entry = machine.entryOf(address)
      machine.wasm.warm(entry)
      return entry
    }
    for (const address of warm ?? []) warmAddress(address)
    for (const { address, storageKeys } of accessList) {
      const entry = warmAddress(address)
      for (const key of storageKeys) {
        machine.putWord(key)
        machine.wasm.warmKey(entry)
      }
    }
  }

  #beginCall(sender: number, target: number): Promise<void> | undefined {
    const { machine } = this
    const first = loadAccount(this, sender)
    const second = loadCode(this, target)
    const loadDelegate = (): Promise<void> | undefined => {
      const runs = machine.wasm.delegate(target)
      return runs === 0 ? undefined : loadCode(this, runs)
    }
    if (first === undefined && second === undefined) {
      const third = loadDelegate()
      if (third === undefined) return this.#startCall(sender, target)
      return third.then(() => this.#startCall(sender, target))
    }
    return Promise.all([first, second])
      .then(loadDelegate)
      .then(() => this.#startCall(sender, target))
  }

  #startCall(sender: number, target: number): undefined {
    const { machine } = this
    const { value, gas, data } = this.#message
    const runs = machine.wasm.delegate(target)
    if (runs !== 0) machine.wasm.warm(runs)
    this.#status = STATUS.unusual
    if (machine.putInput(data) && value <= machine.readWord(sender)) {
      machine.writeExchange(value)
      this.#status = machine.wasm.startCall(sender, target, runs === 0 ? target : runs, gas, data.byteLength)
    }
    return undefined
  }

  #beginCreation(sender: number): Promise<void> | undefined {
    const { machine } = this
    const first = loadAccount(this, sender)
    const create = (): Promise<void> | undefined => {
      const created = machine.wasm.createdBy(sender, machine.nonceOf(sender) - 1n)
      this.#created = machine.addressOf(created)
      if (this.since('berlin')) machine.wasm.warm(created)
      const second = loadAccount(this, created)
      return second === undefined
        ? this.#startCreation(sender, created)
        : second.then(() => this.#startCreation(sender, created))
    }
    return first === undefined ? create() : first.then(create)
  }

  #startCreation(sender: number, created: number): undefined {
    const { machine } = this
    const { value, gas, data } = this.#message
    this.#status = STATUS.unusual
    // Init code beyond the limit is rejected earlier; otherwise EthereumJS' rule applies.
    if (this.rules.boundsInitCode && data.byteLength > initCodeSizeLimit(this.env.params)) return undefined
    if (machine.putInput(data) && value <= machine.readWord(sender)) {
      machine.writeExchange(value)
      this.#status = machine.wasm.startCreation(sender, created, gas, data.byteLength)
    }
    return undefined
  }

  since(fork: EvmFork): boolean {
    return this.#place >= PLACES[fork]
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
    const { wasm } = this.machine
    const at = wasm.inputAt()
    // Copied: the module's memory may grow, and move, while the precompile waits.
    const data = this.machine.copy(at, wasm.inputSize())
    // A precompile that needs more than the message's bound has exceeded it, so it need not run.
    const gas = wasm.frameGas()
    const limit = lower(gas, wasm.gasBoundLeft())
    const quick = QUICK[this.rules.fork][number]?.(data, limit)
    if (quick !== undefined) {
      this.#finishPrecompile(limit, quick)
      return this.#paced(undefined)
    }
    const run = (host: typeof import('./precompile-host.ts')): Promise<void> | undefined => {
      const result = host.runPrecompile(this.env, number, data, limit, () => this.check())
      if (result instanceof Promise) return result.then(done => this.#finishPrecompile(limit, done))
      this.#finishPrecompile(limit, result)
      return this.#paced(undefined)
    }
    if (precompileHost !== undefined) return run(precompileHost)
    return import('./precompile-host.ts').then(host => {
      precompileHost = host
      return run(host)
    })
  }

  /**
   * `limit`: gas that it was given, less than the frame's where the bound of the message is near. A failure consumes all of the frame's
   * gas.
   */
  #finishPrecompile(limit: bigint, { output, gasUsed, failure }: PrecompileResult): void {
    const { machine } = this
    const gas = machine.wasm.frameGas()
    if (failure !== undefined && limit < gas) throw gasBoundExceeded()
    const room = machine.returnRoom()
    this.#precompileFailure = failure
    if (output.byteLength > room) {
      this.#status = STATUS.exhausted
      return
    }
    machine.bytes.set(output, machine.wasm.returnedAt())
    const status = machine.wasm.precompiled(failure === undefined, gas - gasUsed, output.byteLength)
    this.#status = status === STATUS.done ? STATUS.done : STATUS.goesOn
  }

  #end(): RunEnd {
    const { wasm } = this.machine
    this.machine.compileHot()
    this.machine.countCompiled()
    if (this.#status === STATUS.unusual) return 'unusual'
    if (this.#status === STATUS.exhausted || wasm.isExhausted()) return 'exhausted'
    const outcome = wasm.outcomeOf()
    const discards = this.options.discards === true
    const destroyed = discards ? [] : writeChangesToJournal(this)
    // State that moved while the message ran may have given words of both versions.
    if (this.journal.baseVersion === this.#baseVersion)
      this.machine.keepSlots(this.#versionBefore, discards ? undefined : this.journal.storageVersion)
    const failure = this.#failureOf(outcome)
    const { logs, internal } = effectsOf(this.machine)
    const spareGas = wasm.spareGasOf()
    return {
      gasUsed: this.#message.gas - wasm.gasLeftOf(),
      refund: failure === null ? wasm.refundOf() : 0n,
      output: this.#output(),
      logs,
      internal,
      created: this.#created,
      destroyed: failure === null ? destroyed : [],
      failure,
      ...(spareGas >= 0n && { spareGas }),
    }
  }

  #failureOf(outcome: number): EngineFailure | null {
    if (outcome === OUTCOME.returned) return null
    if (outcome === OUTCOME.reverted) return { kind: 'revert' }
    const { to } = this.#message
    if (to !== null && this.rules.precompiles.has(to) && this.#precompileFailure !== undefined) {
      return this.#precompileFailure === 'revert'
        ? { kind: 'revert' }
        : { kind: 'halt', reason: this.#precompileFailure }
    }
    return { kind: 'halt', reason: REASONS[this.machine.wasm.failReason()] as string }
  }

  #output(): Uint8Array {
    const { machine } = this
    const size = machine.wasm.outputSizeOf()
    if (size === 0) return EMPTY_BYTES
    const at = machine.wasm.returnedAt()
    return machine.copy(at, size)
  }
}

const lower = (gas: bigint, bound: bigint): bigint => (bound < 0n ? 0n : bound < gas ? bound : gas)

const PLACES = Object.fromEntries(EVM_FORKS.map((fork, place) => [fork, place])) as Record<EvmFork, number>

const QUICK = Object.fromEntries(EVM_FORKS.map(fork => [fork, quickPrecompilesAt(fork)])) as Record<
  EvmFork,
  QuickPrecompiles
>

const known = new WeakMap<BlockEnv, ExecutionRules>()
const rulesOf = (env: BlockEnv): ExecutionRules => {
  let rules = known.get(env)
  if (rules === undefined) {
    rules = executionRulesAt(env.params, env.number)
    known.set(env, rules)
  }
  return rules
}

let precompileHost: typeof import('./precompile-host.ts') | undefined

/** True for a message that this engine runs; any other uses the other engine. */
export const isSuitable = ({ gas, blobVersionedHashes = [] }: EngineMessage, options: EngineOptions): boolean =>
  gas >= 0n &&
  gas < 1n << 60n &&
  blobVersionedHashes.length <= MAX_BLOBS &&
  options.accesses === undefined &&
  options.moves === undefined &&
  options.transfers !== true &&
  options.trace === undefined
