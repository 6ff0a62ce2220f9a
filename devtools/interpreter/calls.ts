import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { gasBoundExceeded } from '../../src/evm/engine.ts'
import { callPrecompile, type PrecompileResult } from '../../src/evm/engines/precompiles/precompile.ts'
import type { FrameType } from '../../src/evm/tracer.ts'
import { delegationTarget } from '../../src/primitives/transaction/delegation.ts'
import { MAX_BALANCE } from '../../src/state/account.ts'
import { FAULTS, type Fault, precompileFault } from './fault.ts'
import { codeOf } from './frame/code.ts'
import { Frame, type FrameContext, type FrameMarks, type Signal, SWITCH, WAIT } from './frame/frame.ts'
import type { Execution, NetworkPrecompile } from './transaction/execution.ts'
import { REFUSALS } from './transaction/reporter.ts'

/** Limit of nested frames, besides the first. */
const DEPTH_LIMIT = 1024
/** Clock steps of a frame besides its opcodes, and gas of a precompile per step. */
const STEPS_PER_FRAME = 20
const GAS_PER_STEP = 64

/** Message to an account, from code or from a transaction. */
interface CallStart {
  readonly type: FrameType
  readonly context: FrameContext
  /** Account whose code runs. */
  readonly codeAddress: Hex
  readonly gas: bigint | number
}

/** DELEGATECALL only shows an earlier value; CALLCODE moves it to the same account. */
const movesValue = ({ type }: CallStart): boolean => type !== 'DELEGATECALL'

/** Moves wei, touching both accounts; returns false when the recipient's balance would overflow. */
export const transfer = ({ journal, rules }: Execution, from: Hex, to: Hex, wei: bigint): boolean => {
  if (wei === 0n) {
    journal.touch(from)
    // Before EIP-158 a message creates its recipient.
    if (rules.sweepsEmpty || journal.exists(to)) journal.touch(to)
    else journal.setBalance(to, 0n)
    return true
  }
  journal.subBalance(from, wei)
  const balance = journal.balance(to) + wei
  if (balance > MAX_BALANCE) return false
  journal.setBalance(to, balance)
  return true
}

/** Returns the reason why a frame may not be opened; undefined when it may. */
export const refusal = ({ journal }: Execution, opener: Frame, wei: bigint): string | undefined => {
  if (opener.depth >= DEPTH_LIMIT) return REFUSALS.depth
  return journal.balance(opener.context.address) < wei ? REFUSALS.balance : undefined
}

/** Opens the frame of a call opcode; when refused, its gas is returned. */
export const openCall = (vm: Execution, opener: Frame, start: CallStart): Signal | undefined => {
  opener.returnData = EMPTY_BYTES
  const refused = refusal(vm, opener, movesValue(start) ? start.context.value : 0n)
  if (refused === undefined) return beginCall(vm, opener, start)
  vm.reporter?.refuse(frameStart(start, opener), refused)
  opener.giveGas(start.gas)
  opener.push(0n)
  return undefined
}

const frameStart = ({ type, context, codeAddress, gas }: CallStart, opener: Frame | undefined) => ({
  depth: opener === undefined ? 0 : opener.depth + 1,
  type,
  from: opener === undefined ? context.caller : opener.context.address,
  to: codeAddress,
  input: context.input,
  gas: BigInt(gas),
  value: type === 'STATICCALL' ? undefined : context.value,
})

/** Starts a message; one without code has ended when this returns. */
export const beginCall = (vm: Execution, opener: Frame | undefined, start: CallStart): Signal | undefined => {
  const { context, codeAddress, gas } = start
  const { caller, address, value } = context
  vm.clock.steps -= STEPS_PER_FRAME
  vm.reporter?.enter(frameStart(start, opener))
  const marks = vm.mark()
  if (movesValue(start)) {
    if (opener !== undefined && start.type === 'CALL' && value > 0n)
      vm.effects.internal.push({ kind: 'call', from: caller, to: address, value })
    if (vm.options.transfers && value > 0n && codeAddress === address) vm.effects.addTransfer(caller, address, value)
    if (!transfer(vm, caller, address, value)) {
      vm.revert(marks)
      return endCall(vm, opener, gas, EMPTY_BYTES, FAULTS.valueOverflow)
    }
  }
  const precompile = vm.precompileAt(codeAddress)
  if (precompile !== undefined) return runPrecompile(vm, opener, start, marks, precompile)
  const code = runnableCode(vm, codeAddress, opener === undefined)
  if (code.byteLength === 0) return endCall(vm, opener, gas, EMPTY_BYTES, undefined)
  vm.frame = new Frame(opener, context, codeOf(code), gas, marks, vm.workspaces.take())
  return SWITCH
}

/** Returns the account's code, or that of its delegate (EIP-7702), which a transaction warms. */
const runnableCode = ({ journal, rules, access }: Execution, address: Hex, isTop: boolean): Uint8Array => {
  const code = journal.code(address)
  const target = rules.hasDelegation ? delegationTarget(code) : undefined
  if (target === undefined) return code
  if (isTop) access.warm(target)
  return journal.code(target)
}

const runPrecompile = (
  vm: Execution,
  opener: Frame | undefined,
  { context, gas }: CallStart,
  marks: FrameMarks,
  precompile: NetworkPrecompile,
): Signal | undefined => {
  const given = BigInt(gas)
  const bound = vm.gasBoundLeft(opener, given) ?? given
  const limit = bound < 0n ? 0n : bound < given ? bound : given
  const { fork } = vm.executionRules
  const check = () => vm.clock.check()
  const { row, price } = precompile
  const result = callPrecompile(row, { data: context.input, gas: limit, fork, price, check })
  const finish = (done: PrecompileResult): Signal | undefined => {
    const { failure, gasUsed, output } = done
    const fault = failure && precompileFault(failure)
    // A precompile that needs more than the bound leaves, or fails and takes all gas, has exceeded it.
    if (fault !== undefined && limit < given) throw gasBoundExceeded()
    if (fault !== undefined) vm.revert(marks)
    const left = given - gasUsed
    vm.clock.steps -= Number(gasUsed) / GAS_PER_STEP
    return endCall(vm, opener, typeof gas === 'number' ? Number(left) : left, output, fault)
  }
  if (!(result instanceof Promise)) return finish(result)
  vm.pending = result.then(finish)
  return WAIT
}

/** Returns the result of a call to its opener, or makes it the message's outcome. */
export const endCall = (
  vm: Execution,
  opener: Frame | undefined,
  gasLeft: bigint | number,
  output: Uint8Array,
  fault: Fault | undefined,
): Signal | undefined => {
  vm.reporter?.exit(BigInt(gasLeft), output, fault?.text)
  if (opener === undefined) return vm.end({ fault, gasLeft: BigInt(gasLeft), output, created: null })
  opener.giveGas(gasLeft)
  opener.push(fault === undefined ? 1n : 0n)
  if (fault === undefined || fault.reason === FAULTS.revert.reason) {
    opener.returnData = output
    const size = Math.min(opener.answerSize, output.byteLength)
    if (size > 0) opener.memory.write(opener.answerAt, output, 0, size)
  }
  return vm.resume(opener)
}
