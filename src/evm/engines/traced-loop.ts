import type { Common } from '@ethereumjs/common'
import type { EVMError } from '@ethereumjs/evm'
import type { Journal } from '../../state/journal.ts'
import { bytesToHex, type Hex, toWord } from '../../util/bytes.ts'
import { delegationTarget } from '../authorizations.ts'
import type { Prefetcher } from '../prefetch.ts'
import type { TraceHooks } from '../tracers/tracer.ts'
import { type FastEvmParts, isEvmError, STEPS_PER_WAIT, useAnalysis } from './fast-interpreter.ts'
import { ENDED } from './fast-operations.ts'
import { faultText } from './fault-text.ts'
import { analysisOf } from './jump-analysis.ts'
import { OPCODES } from './opcode-table.ts'
import type { OpcodeEntry, RunState } from './run-state.ts'
import { conditionFault, constantGas, dynamicGas, outOfGasFault, passedGas, stackFault } from './traced-pricing.ts'
import { FrameStep } from './traced-step.ts'

export interface TracedLoopParts extends FastEvmParts {
  readonly trace: TraceHooks
}

/** A shown step takes the time of so many plain ones. */
const STEPS_PER_SHOWN_STEP = 8
const STOP = 0x00
const SLOAD = 0x54
const SSTORE = 0x55

/** Opcodes that name an account on top of the stack, and those that name it one below. */
const NAMES_ACCOUNT: ReadonlySet<number> = new Set([0x31, 0x3b, 0x3c, 0x3f, 0xff])
const CALLS: ReadonlySet<number> = new Set([0xf1, 0xf2, 0xf4, 0xfa])

const nameOf = (op: number, { opcodeInfo }: OpcodeEntry): string =>
  opcodeInfo.isInvalid ? (OPCODES[op]?.name ?? '') : opcodeInfo.fullName

const item = ({ stack }: RunState, below: number): Hex => toWord(stack._store[stack._len - below] as bigint)

/** An account, and the one it delegates to (EIP-7702). */
const loadAccount = async (prefetch: Prefetcher, journal: Journal, address: Hex): Promise<void> => {
  await prefetch.code(address)
  const target = delegationTarget(journal.code(address))
  if (target !== undefined) await prefetch.code(target)
}

/** Brings in what an opcode names: a tracer may ask for it during the step. */
const loadNamed = (state: RunState): Promise<void> | undefined => {
  const { opCode, env, stateManager } = state
  const { prefetch, journal } = stateManager
  if (prefetch === undefined) return undefined
  if (opCode === SLOAD || opCode === SSTORE) return prefetch.slot(bytesToHex(env.address.bytes), item(state, 1))
  const below = NAMES_ACCOUNT.has(opCode) ? 1 : CALLS.has(opCode) ? 2 : 0
  return below === 0 ? undefined : loadAccount(prefetch, journal, `0x${item(state, below).slice(26)}`)
}

/** A price that cannot be said is the failure itself. */
const priceOf = (
  state: RunState,
  entry: OpcodeEntry,
  common: Common,
): bigint | EVMError | Promise<bigint | EVMError> => {
  const { isInvalid, dynamicGas: isDynamic, feeBigInt } = entry.opcodeInfo
  if (!isDynamic) return isInvalid ? 0n : feeBigInt
  try {
    const price = dynamicGas(state, entry, common)
    return typeof price === 'bigint' ? price : price.catch(evmErrorOr)
  } catch (error) {
    return evmErrorOr(error)
  }
}

const evmErrorOr = (error: unknown): EVMError => {
  if (isEvmError(error)) return error
  throw error
}

const reportLog = ({ interpreter }: RunState, { tracer }: TraceHooks): void => {
  const log = interpreter._result.logs.at(-1)
  if (log !== undefined) tracer.log?.({ address: bytesToHex(log[0]), topics: log[1].map(bytesToHex), data: log[2] })
}

/** Runs one frame as `runSteps` does, and shows every opcode to the tracer before it runs. Awaits only what is a promise. */
export const runTracedSteps = async (
  state: RunState,
  { common, table, clock, trace }: TracedLoopParts,
): Promise<void> => {
  const { code } = state
  const { tracer, flow } = trace
  const step = new FrameStep(state)
  for (;;) {
    const pc = state.programCounter
    // Behind its end any code has a STOP.
    const op = pc < code.byteLength ? (code[pc] as number) : STOP
    if (state.shouldDoJumpAnalysis && (op === 0x56 || op === 0x57)) useAnalysis(state, analysisOf(code))
    const entry = table[op] as OpcodeEntry
    state.opCode = op
    step.begin(pc, op, nameOf(op, entry))
    const constant = constantGas(op, entry, common)
    const early = stackFault(op, state.stack._len, entry) ?? (state.gasLeft < constant ? outOfGasFault() : undefined)
    if (early !== undefined) {
      tracer.step?.(step.finish(constant, early.text))
      throw early
    }
    const loading = loadNamed(state)
    if (loading !== undefined) await loading
    const pricing = priceOf(state, entry, common)
    const price = pricing instanceof Promise ? await pricing : pricing
    if (typeof price !== 'bigint') {
      tracer.step?.(step.finish(constant, faultText(price)))
      throw price
    }
    if (state.gasLeft < price) {
      tracer.step?.(step.finish(price, 'out of gas'))
      throw outOfGasFault()
    }
    tracer.step?.(step.finish(price + passedGas(state)))
    const fault = conditionFault(state, entry)
    if (fault !== undefined) throw fault
    if (pc >= code.byteLength) return
    state.gasLeft -= price
    state.programCounter++
    const pending = entry.opHandler(state, common)
    if (pending === ENDED) return
    if (pending !== undefined) {
      await pending
      clock.steps -= STEPS_PER_WAIT
    }
    if (op >= 0xa0 && op <= 0xa4) reportLog(state, trace)
    if (flow.isFull) await flow.drained()
    clock.steps -= STEPS_PER_SHOWN_STEP
    if (clock.steps < 0) await clock.check()
  }
}
