import { type Hex, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import { FAULTS } from '../fault.ts'
import { type Frame, WAITING } from '../frame/frame.ts'
import { canPay } from '../prices.ts'
import type { EvmRules } from '../rules.ts'
import type { Execution, Operation, Price } from '../transaction/execution.ts'
import { entry, type OperationEntry } from './operation.ts'

/* Storage (EIP-2200, EIP-2929 and earlier rules) and transient storage (EIP-1153). */

const COLD_SLOAD = 2_100
const WARM_READ = 100
/** A write with this much gas left or less fails: the stipend of a transfer must not suffice (EIP-2200). */
const SENTRY = 2_300

/** Returns the slot on top of the stack; undefined while it is being loaded. */
const slotOf = (frame: Frame, vm: Execution): Hex | undefined => {
  const slot = toWord(frame.peek(0))
  const loading = vm.prefetch?.slot(frame.context.address, slot)
  if (loading === undefined) return slot
  vm.waitFor(loading)
  return undefined
}

/** True when a read of the slot on top of the stack can be paid: checked before the state is read for it. */
const canRead = (frame: Frame, vm: Execution): boolean =>
  !vm.rules.hasAccessPrices ||
  canPay(frame, vm, COLD_SLOAD) ||
  !vm.access.isColdSlot(frame.context.address, toWord(frame.peek(0)))

const sloadPrice: Price = (frame, vm) => {
  if (!canRead(frame, vm)) return Number.POSITIVE_INFINITY
  const slot = slotOf(frame, vm)
  if (slot === undefined) return WAITING
  if (!vm.rules.hasAccessPrices) return vm.rules.sload
  return vm.access.touchSlot(frame.context.address, slot) ? COLD_SLOAD : WARM_READ
}

const sload: Operation = (frame, vm) => {
  const slot = toWord(frame.pop())
  frame.push(BigInt(vm.journal.storage(frame.context.address, slot)))
}

/** Word at the start of the transaction, now, and after the write. */
interface Change {
  readonly original: Hex
  readonly current: Hex
  readonly next: Hex
}

/** Frontier to Byzantium, and Petersburg. */
const plainWritePrice = (vm: Execution, { current, next }: Change): number => {
  if (current === ZERO_HASH && next !== ZERO_HASH) return 20_000
  if (current !== ZERO_HASH && next === ZERO_HASH) vm.refund += vm.rules.clearRefund
  return 5_000
}

/**
 * Prices of net metering: a write without change or after the first of a transaction; the first to a zero; the first to another
 * word.
 */
const NET: Readonly<Record<'eip1283' | 'eip2200' | 'eip2929', { again: number; init: number; reset: number }>> = {
  eip1283: { again: 200, init: 20_000, reset: 5_000 },
  eip2200: { again: 800, init: 20_000, reset: 5_000 },
  eip2929: { again: WARM_READ, init: 20_000, reset: 2_900 },
}

const netWritePrice = (vm: Execution, rule: keyof typeof NET, { original, current, next }: Change): number => {
  const { again, init, reset } = NET[rule]
  const { clearRefund } = vm.rules
  if (current === next) return again
  if (original === current) {
    if (original === ZERO_HASH) return init
    if (next === ZERO_HASH) vm.refund += clearRefund
    return reset
  }
  if (original !== ZERO_HASH) {
    if (current === ZERO_HASH) vm.refund -= clearRefund
    else if (next === ZERO_HASH) vm.refund += clearRefund
  }
  if (original === next) vm.refund += (original === ZERO_HASH ? init : reset) - again
  return again
}

const writePrice = (vm: Execution, rule: EvmRules['sstore'], change: Change): number =>
  rule === 'frontier' ? plainWritePrice(vm, change) : netWritePrice(vm, rule, change)

const hasSentry = (rule: EvmRules['sstore']): boolean => rule === 'eip2200' || rule === 'eip2929'

const sstorePrice: Price = (frame, vm) => {
  // It fails when it runs; no access may be recorded before that.
  if (frame.context.isStatic) return 0
  const rule = vm.rules.sstore
  if (hasSentry(rule) && frame.gas <= SENTRY && frame.spareGas === 0n) return Number.POSITIVE_INFINITY
  const slot = slotOf(frame, vm)
  if (slot === undefined) return WAITING
  const { address } = frame.context
  const { journal } = vm
  const change = {
    original: journal.originalStorage(address, slot),
    current: journal.storage(address, slot),
    next: toWord(frame.peek(1)),
  }
  const price = writePrice(vm, rule, change)
  return rule === 'eip2929' && vm.access.touchSlot(address, slot) ? price + COLD_SLOAD : price
}

const sstore: Operation = (frame, vm) => {
  if (frame.context.isStatic) return frame.fail(FAULTS.staticStateChange)
  const slot = toWord(frame.pop())
  vm.journal.setStorage(frame.context.address, slot, toWord(frame.pop()))
  return undefined
}

const tload: Operation = (frame, vm) => {
  frame.push(vm.transient.get(frame.context.address, toWord(frame.pop())))
}

const tstore: Operation = (frame, vm) => {
  if (frame.context.isStatic) return frame.fail(FAULTS.staticStateChange)
  const slot = toWord(frame.pop())
  vm.transient.set(frame.context.address, slot, frame.pop())
  return undefined
}

export const STORAGE_OPERATIONS: readonly OperationEntry[] = [
  entry(0x54, 0, sload, sloadPrice),
  entry(0x55, 0, sstore, sstorePrice),
  entry(0x5c, 100, tload),
  entry(0x5d, 100, tstore),
]
