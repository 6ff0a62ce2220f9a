import { bytesToHex, EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import type { InternalTransfer } from '../../../primitives/receipt/internal-transfer.ts'
import type { Log } from '../../../primitives/receipt/log.ts'
import type { Journal } from '../../../state/journal/journal.ts'
import { type EngineFailure, type EngineOptions, gasBoundExceeded, type Interrupt } from '../../engine.ts'
import { PRECOMPILE_REASON, REASON } from '../../failure-reasons.ts'
import { SliceClock } from '../../slice-clock.ts'
import type { FrameStart, FrameType } from '../../tracer.ts'
import { transferLogOf } from '../transfer-logs.ts'
import type { OpcodeState } from './deviations.ts'

/** Cheap opcodes between two checks of the clock. */
const STEPS_PER_CHECK = 2_000

/** Counts steps across the frames of one message; yields to other work and stops on demand. */
export class StepClock {
  readonly #slices: SliceClock | undefined
  steps = STEPS_PER_CHECK

  constructor(interrupt: Interrupt | undefined) {
    this.#slices = interrupt && new SliceClock(interrupt)
  }

  /** Called when `steps` is used up; returns a promise only when it is time to yield. */
  check(): Promise<void> | undefined {
    this.steps = STEPS_PER_CHECK
    return this.#slices?.check()
  }
}

/** Steps of the clock for a frame, and for an opcode that is checked; one more for so much gas. */
const STEPS_PER_FRAME = 200
const STEPS_PER_OPCODE = 25
const GAS_PER_STEP = 64

const INVALID_JUMP = 'invalid JUMP'

/** The library's error texts in go-ethereum's words; a precompile's own texts are kept. */
const REASONS: Readonly<Record<string, string>> = {
  'code size to deposit exceeds maximum code size': REASON.codeTooLarge,
  'stack overflow': REASON.stackOverflow,
  'static state change': REASON.staticStateChange,
  'create collision': REASON.createCollision,
  'invalid bytecode deployed': REASON.codeInvalid,
  'initcode exceeds max initcode size': REASON.initCodeTooLarge,
  [PRECOMPILE_REASON.revert]: REASON.revert,
}

/** A jump's text goes on with the place. */
const reasonOf = (error: string): string =>
  error.startsWith(INVALID_JUMP) ? REASON.invalidJump : (REASONS[error] ?? error)

/** Error of a Frontier creation that cannot pay for its code: it succeeds without code. */
const CODE_NOT_STORED = 'code store out of gas'

/** Returns the library's error text of a message that failed. */
export const errorOf = (error: { readonly error: string } | undefined): string | undefined =>
  error?.error === CODE_NOT_STORED ? undefined : error?.error

/** Converts the library's error text to the failure of a message. */
export const engineFailure = (error: string | undefined): EngineFailure | null => {
  if (error === undefined) return null
  return error === PRECOMPILE_REASON.revert ? { kind: 'revert' } : { kind: 'halt', reason: reasonOf(error) }
}

/** Frame under way. */
export interface RunningFrame {
  readonly start: FrameStart
  /** Account whose storage the code uses. */
  readonly address: Hex
  /** Gas that the frames outside had used when it began. */
  readonly usedOutside: bigint
  /** Lengths of the lists at its start. */
  readonly marks: { readonly internal: number; readonly logs: number }
  /** State of its code; undefined before the first checked opcode. */
  state: OpcodeState | undefined
  isPrecompile: boolean
  /** True once its code has ended without an error. */
  hasRun: boolean
  /** Text of its failure where a trace says more than the library. */
  fault: string | undefined
}

/** End of a frame as the library has it. */
interface FrameResult {
  readonly gasUsed: bigint
  readonly output: Uint8Array
  readonly error: string | undefined
}

/** Message under way in the library's EVM: what may stop it, and what it leaves besides the library's own result. */
export class WatchedRun {
  readonly journal: Journal
  readonly options: EngineOptions
  readonly clock: StepClock
  readonly internal: InternalTransfer[] = []
  /** Logs with those of transfers, where these are requested. */
  readonly logs: Log[] = []
  /** Kind of the frame that the current opcode opens. */
  opens: FrameType = 'CALL'
  readonly #frames: RunningFrame[] = []

  constructor(journal: Journal, options: EngineOptions) {
    this.journal = journal
    this.options = options
    this.clock = new StepClock(options.interrupt)
  }

  get frame(): RunningFrame | undefined {
    return this.#frames.at(-1)
  }

  /** Called before an opcode that costs `gas` runs: checks the bound, and returns a promise when it is time to yield. */
  check(state: OpcodeState, gas: bigint): Promise<void> | undefined {
    const { frame } = this
    if (frame !== undefined) {
      frame.state = state
      this.#checkBound(frame.usedOutside + frame.start.gas - state.gasLeft)
    }
    return this.spend(gas)
  }

  /** Counts an opcode or a precompile that costs `gas`; returns a promise when it is time to yield. */
  spend(gas: bigint): Promise<void> | undefined {
    this.clock.steps -= STEPS_PER_OPCODE + Number(gas) / GAS_PER_STEP
    return this.clock.steps < 0 ? this.clock.check() : undefined
  }

  /** Gas that the current frame may still use under the bound; undefined: no bound. */
  gasBoundLeft(): bigint | undefined {
    const { frame } = this
    const { gasBound } = this.options
    if (gasBound === undefined || frame === undefined) return undefined
    return gasBound > frame.usedOutside ? gasBound - frame.usedOutside : 0n
  }

  #checkBound(used: bigint): void {
    const { gasBound } = this.options
    if (gasBound !== undefined && used > gasBound) throw gasBoundExceeded()
  }

  enter(start: FrameStart, address: Hex): RunningFrame {
    const outside = this.frame
    const usedOutside =
      outside === undefined
        ? 0n
        : outside.usedOutside + outside.start.gas - (outside.state?.gasLeft ?? outside.start.gas)
    const marks = { internal: this.internal.length, logs: this.logs.length }
    const frame: RunningFrame = {
      start,
      address,
      usedOutside,
      marks,
      state: undefined,
      isPrecompile: false,
      hasRun: false,
      fault: undefined,
    }
    this.#frames.push(frame)
    this.clock.steps -= STEPS_PER_FRAME
    this.options.trace?.tracer.enter?.(start)
    this.#noteValue(frame)
    return frame
  }

  /** Records the wei that a frame brings to its account. */
  #noteValue({ start: { type, from, to, value = 0n, depth } }: RunningFrame): void {
    const isCreation = type === 'CREATE' || type === 'CREATE2'
    const moves = isCreation || (type === 'CALL' && value > 0n)
    if (depth > 0 && moves) this.internal.push({ kind: isCreation ? 'create' : 'call', from, to, value })
    if (this.options.transfers && moves && value > 0n) this.logs.push(transferLogOf(from, to, value))
  }

  exit(frame: RunningFrame, { gasUsed, output, error }: FrameResult): void {
    this.#frames.pop()
    this.#checkBound(frame.usedOutside + gasUsed)
    if (error !== undefined) {
      this.internal.length = frame.marks.internal
      this.logs.length = frame.marks.logs
    }
    const isKept = error === undefined || error === PRECOMPILE_REASON.revert
    this.options.trace?.tracer.exit?.({
      depth: frame.start.depth,
      output: isKept ? output : EMPTY_BYTES,
      gasUsed,
      error: error === undefined ? undefined : (frame.fault ?? faultOf(frame, error)),
    })
  }

  /** Reports a frame that is refused before its start, which costs nothing. */
  refuse(start: FrameStart, error: string): void {
    const tracer = this.options.trace?.tracer
    tracer?.enter?.(start)
    tracer?.exit?.({ depth: start.depth, output: EMPTY_BYTES, gasUsed: 0n, error })
  }

  selfDestruct({ interpreter }: OpcodeState, to: Hex): void {
    const from = bytesToHex(interpreter.getAddress().bytes)
    const value = this.journal.balance(from)
    const depth = (this.frame?.start.depth ?? 0) + 1
    const tracer = this.options.trace?.tracer
    tracer?.enter?.({ depth, type: 'SELFDESTRUCT', from, to, value, input: EMPTY_BYTES, gas: 0n })
    tracer?.exit?.({ depth, output: EMPTY_BYTES, gasUsed: 0n, error: undefined })
    if (this.options.transfers && value > 0n) this.logs.push(transferLogOf(from, to, value))
    if (from !== to && value > 0n) this.internal.push({ kind: 'selfdestruct', from, to, value })
  }

  log(log: Log): void {
    if (this.options.transfers) this.logs.push(log)
    this.options.trace?.tracer.log?.(log)
  }
}

/** Text of a trace for a frame's failure. */
const faultOf = ({ isPrecompile, hasRun, start: { type } }: RunningFrame, error: string): string => {
  if (isPrecompile) return error === REASON.outOfGas ? error : 'precompiled failed'
  if (hasRun && type.startsWith('CREATE') && error === REASON.outOfGas)
    return 'contract creation code storage out of gas'
  return reasonOf(error)
}

/** Returns the run that an opcode of a `WatchedEvm` belongs to. */
export const runOf = ({ interpreter }: OpcodeState): WatchedRun =>
  (interpreter._evm as unknown as { readonly run: WatchedRun }).run
