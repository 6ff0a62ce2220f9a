import type { Common } from '@ethereumjs/common'
import { EVMError } from '@ethereumjs/evm'
import type { Address } from '@ethereumjs/util'
import { asBuffer } from '../../util/bytes.ts'
import { CodedError } from '../../util/errors.ts'
import type { Interrupt, InterruptedError } from '../engine.ts'
import { growMemory } from './fast-memory.ts'
import { ENDED } from './fast-operations.ts'
import { createFrameInterpreter } from './frame-interpreter.ts'
import { analysisOf, knownAnalysis } from './jump-analysis.ts'
import type { InterpreterBase, InterpreterClass, InterpreterResult, OpcodeEntry, RunState } from './run-state.ts'
import { transferLog } from './transfer-logs.ts'

/** Cheap opcodes between two looks at the clock. */
const STEPS_PER_CHECK = 2_000
/** Dear opcodes count for more: one step for so much gas. */
const GAS_PER_STEP = 64n
const DEAR_GAS = 2_048n
/** A call or another opcode that was waited for, besides the gas that went there: precompiles count no steps of their own. */
export const STEPS_PER_WAIT = 200

const yieldToEventLoop = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** Counts steps across the frames of one message; gives way to other work and stops on demand. */
export class StepClock {
  readonly #interrupt: Interrupt | undefined
  #sliceEndMs = 0
  steps = STEPS_PER_CHECK

  constructor(interrupt: Interrupt | undefined) {
    this.#interrupt = interrupt
    if (interrupt !== undefined) this.#sliceEndMs = performance.now() + interrupt.sliceMs
  }

  /** Called when `steps` has run down; a promise only when it is time to give way. */
  check(): Promise<void> | undefined {
    this.steps = STEPS_PER_CHECK
    const interrupt = this.#interrupt
    return interrupt === undefined || performance.now() < this.#sliceEndMs ? undefined : this.#pause(interrupt)
  }

  async #pause(interrupt: Interrupt): Promise<void> {
    await (interrupt.giveWay?.() ?? yieldToEventLoop())
    if (interrupt.shouldStop()) throw new CodedError<InterruptedError>({ code: 'EXECUTION_INTERRUPTED' })
    this.#sliceEndMs = performance.now() + interrupt.sliceMs
  }
}

/** What the interpreter needs of the EVM that owns it. */
export interface FastEvmParts {
  readonly common: Common
  readonly table: readonly OpcodeEntry[]
  clock: StepClock
}

export const isEvmError = (error: unknown): error is EVMError =>
  typeof error === 'object' && error !== null && 'errorType' in error && error.errorType === 'EVMError'

/** The handlers want a Buffer over what EthereumJS allocated for the frame. */
const prepareMemory = ({ memory }: RunState): void => {
  memory._store = asBuffer(memory._store)
  memory.extend = growMemory
}

export const useAnalysis = (state: RunState, { jumps, pushes }: { jumps: Uint8Array; pushes: bigint[] }): void => {
  state.validJumps = jumps
  state.cachedPushes = pushes
  state.shouldDoJumpAnalysis = false
}

/** Runs until the code ends or a handler throws. Awaits only what is a promise: EthereumJS' own loop awaits every opcode. */
const runSteps = async (state: RunState, { common, table, clock }: FastEvmParts): Promise<void> => {
  const { code } = state
  const size = code.byteLength
  while (state.programCounter < size) {
    const op = code[state.programCounter] as number
    if (state.shouldDoJumpAnalysis && (op === 0x56 || op === 0x57)) useAnalysis(state, analysisOf(code))
    const { opcodeInfo, gasHandler, opHandler } = table[op] as OpcodeEntry
    state.opCode = op
    let gas = opcodeInfo.feeBigInt
    if (opcodeInfo.dynamicGas) {
      const priced = gasHandler(state, gas, common)
      gas = typeof priced === 'bigint' ? priced : await priced
      if (gas > DEAR_GAS) clock.steps -= Number(gas / GAS_PER_STEP)
    }
    if (opcodeInfo.isInvalid) throw new EVMError(EVMError.errorMessages.INVALID_OPCODE)
    state.gasLeft -= gas
    if (state.gasLeft < 0n) {
      state.gasLeft = 0n
      throw new EVMError(EVMError.errorMessages.OUT_OF_GAS)
    }
    state.programCounter++
    const pending = opHandler(state, common)
    if (pending !== undefined) {
      if (pending === ENDED) return
      const before = state.gasLeft
      await pending
      clock.steps -= STEPS_PER_WAIT + Number((before - state.gasLeft) / GAS_PER_STEP)
    }
    if (--clock.steps < 0) {
      const pause = clock.check()
      if (pause !== undefined) await pause
    }
  }
}

/** Makes the frame ready, runs it by `steps`, and sorts its end: STOP is none of the failures. */
export const runFrame = async (
  state: RunState,
  code: Uint8Array,
  steps: (state: RunState) => Promise<void>,
): Promise<InterpreterResult> => {
  prepareMemory(state)
  state.code = code
  const known = knownAnalysis(code)
  if (known !== undefined) useAnalysis(state, known)
  try {
    await steps(state)
  } catch (error) {
    if (!isEvmError(error)) throw error
    if (error.error !== EVMError.errorMessages.STOP) return { runState: state, exceptionError: error }
  }
  return { runState: state }
}

/** EthereumJS' interpreter with a loop of our own around its opcode handlers. */
export const createFastInterpreter = (base: InterpreterClass) =>
  class FastInterpreter extends createFrameInterpreter(base) {
    override async selfDestruct(beneficiary: Address): Promise<void> {
      const { address, contract } = this._env
      if (this._evm.transfers && contract.balance > 0n) {
        this._result.logs.push(transferLog(address.bytes, beneficiary.bytes, contract.balance))
      }
      return super.selfDestruct(beneficiary)
    }

    runFast(code: Uint8Array, parts: FastEvmParts): Promise<InterpreterResult> {
      return runFrame(this._runState, code, state => runSteps(state, parts))
    }
  }

export type FastInterpreter = InterpreterBase & {
  runFast(code: Uint8Array, parts: FastEvmParts): Promise<InterpreterResult>
}
export type FastInterpreterClass = new (...args: unknown[]) => FastInterpreter
