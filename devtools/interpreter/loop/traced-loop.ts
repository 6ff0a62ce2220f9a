import { assert } from '@tandem/base/assert.ts'
import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { REASON } from '../../../src/evm/failure-reasons.ts'
import { SHAPES } from '../../../src/evm/opcodes.ts'
import { delegationTarget } from '../../../src/primitives/transaction/delegation.ts'
import { FAULTS, type Fault } from '../fault.ts'
import { type Frame, type Signal, WAIT } from '../frame/frame.ts'
import type { EvmRules } from '../rules.ts'
import type { Execution } from '../transaction/execution.ts'
import { addressOf } from '../words.ts'
import { FrameStep } from './traced-step.ts'

/*
 * Loop that reports a step to the tracer before each opcode runs. Cost and faults of an opcode are reported in the order of go-ethereum's
 * checks: stack, gas, then the opcode's own conditions.
 */

/** Clock steps of a reported step. */
const STEPS_PER_SHOWN_STEP = 8
const STOP = 0x00
const SLOAD = 0x54
const SSTORE = 0x55
const PREVRANDAO = 0x44
const WARM_READ = 100

/** Opcodes with an account on top of the stack, and with one below the top. */
const NAMES_ACCOUNT: ReadonlySet<number> = new Set([0x31, 0x3b, 0x3c, 0x3f, 0xff])
const CALLS: ReadonlySet<number> = new Set([0xf1, 0xf2, 0xf4, 0xfa])
/** EXP and LOG: go-ethereum prices them as a whole. */
const PRICED_WHOLE: ReadonlySet<number> = new Set([0x0a, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4])

const nameOf = (op: number, { hasRandao }: EvmRules): string =>
  op === PREVRANDAO && !hasRandao ? 'DIFFICULTY' : (SHAPES[op]?.name ?? '')

/** Prices of accesses before EIP-2929, where they are fixed. */
const ACCESS_PRICES: Readonly<Record<number, (rules: EvmRules) => number>> = {
  49: rules => rules.balance,
  59: rules => rules.extCode,
  60: rules => rules.extCode,
  63: rules => rules.extCodeHash,
  241: rules => rules.call,
  242: rules => rules.call,
  244: rules => rules.call,
  250: rules => rules.call,
}

/** Returns the part of the price that is known before the operands are read. */
const constantGas = (op: number, { rules, table }: Execution): number => {
  if (table.known[op] !== true || PRICED_WHOLE.has(op)) return 0
  if (op === SLOAD) return rules.hasAccessPrices ? 0 : rules.sload
  const access = ACCESS_PRICES[op]
  if (access !== undefined) return rules.hasAccessPrices ? WARM_READ : access(rules)
  return table.fixed[op] as number
}

const stackFault = (op: number, height: number, { table }: Execution): Fault | undefined => {
  if (table.known[op] !== true) return undefined
  const { least, most } = SHAPES[op] as (typeof SHAPES)[number]
  if (height < least) return { ...FAULTS.stackUnderflow, text: `${REASON.stackUnderflow} (${height} <=> ${least})` }
  return height > most ? { ...FAULTS.stackOverflow, text: `${REASON.stackOverflow} ${height} (${most})` } : undefined
}

/** Loads an account, and its delegate (EIP-7702). */
const loadAccount = ({ prefetch, journal }: Execution, address: Hex): Promise<void> | undefined => {
  const loading = prefetch?.code(address)
  if (loading !== undefined) return loading
  const target = delegationTarget(journal.code(address))
  return target === undefined ? undefined : prefetch?.code(target)
}

/** Loads the state an opcode names: a tracer may read it during the step. */
const loadNamed = (op: number, frame: Frame, vm: Execution): Promise<void> | undefined => {
  const { prefetch } = vm
  if (prefetch === undefined) return undefined
  if (op === SLOAD || op === SSTORE) return prefetch.slot(frame.context.address, toWord(frame.peek(0)))
  if (NAMES_ACCOUNT.has(op)) return loadAccount(vm, addressOf(frame.peek(0)))
  return CALLS.has(op) ? loadAccount(vm, addressOf(frame.peek(1))) : undefined
}

/** Prices an opcode and reports its step. A fault is reported with it; after a returned promise the call must be repeated. */
const showStep = (op: number, frame: Frame, vm: Execution, step: FrameStep): Fault | Promise<unknown> | undefined => {
  const tracer = vm.trace?.tracer
  const constant = constantGas(op, vm)
  const show = (cost: bigint, fault: Fault | undefined): Fault | undefined => {
    tracer?.step?.(step.finish(cost, fault?.text))
    return fault
  }
  const early = stackFault(op, frame.height, vm) ?? (frame.gasLeft < constant ? FAULTS.outOfGas : undefined)
  if (early !== undefined) return show(BigInt(constant), early)
  const loading = loadNamed(op, frame, vm)
  if (loading !== undefined) return loading
  const dynamic = vm.table.prices[op]?.(frame, vm) ?? 0
  if (dynamic < 0) return vm.pending
  if (dynamic === Number.POSITIVE_INFINITY) return show(BigInt(constant), FAULTS.outOfGas)
  const cost = BigInt((vm.table.fixed[op] as number) + dynamic)
  if (frame.gasLeft < cost) return show(cost, FAULTS.outOfGas)
  const isKnown = vm.table.known[op] === true
  show(cost + (isKnown && CALLS.has(op) ? BigInt(vm.passedGas) : 0n), undefined)
  frame.gasLeft -= cost
  if (isKnown) return undefined
  return { ...FAULTS.invalidOpcode, text: `${REASON.invalidOpcode}: ${SHAPES[op]?.name}` }
}

const waitFor = (vm: Execution, promise: Promise<unknown>): Signal => {
  vm.pending = promise
  return WAIT
}

/** Runs a frame like the plain loop. */
export const runTracedFrame = (vm: Execution, frame: Frame): Signal => {
  const { clock, table, trace, rules } = vm
  assert(trace !== undefined, 'hooks are there while a message is traced')
  const { bytes } = frame.code
  const step = new FrameStep(vm, frame)
  for (;;) {
    if (trace.backpressure.isFull) return waitFor(vm, trace.backpressure.drained())
    const { pc } = frame
    const op = pc < bytes.byteLength ? (bytes[pc] as number) : STOP
    frame.op = op
    const shown = showStep(op, frame, vm, step.begin(pc, op, nameOf(op, rules)))
    if (shown instanceof Promise) return waitFor(vm, shown)
    if (shown !== undefined) return frame.fail(shown)
    frame.pc = pc + 1
    const signal = table.run[op]?.(frame, vm)
    if (signal !== undefined) return signal
    clock.steps -= STEPS_PER_SHOWN_STEP
    const pause = clock.steps < 0 ? clock.check() : undefined
    if (pause !== undefined) return waitFor(vm, pause)
  }
}
