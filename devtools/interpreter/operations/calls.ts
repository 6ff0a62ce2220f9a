import type { Hex } from '@tandem/base/bytes.ts'
import { delegationTarget } from '../../../src/primitives/transaction/delegation.ts'
import { openCall } from '../calls.ts'
import { FAULTS } from '../fault.ts'
import type { Frame, FrameContext } from '../frame/frame.ts'
import { accessPrice, canPay, canReach, gasToPass } from '../prices.ts'
import type { Execution, Operation, Price } from '../transaction/execution.ts'
import { addressOf } from '../words.ts'
import { entry, type OperationEntry } from './operation.ts'

/* CALL, CALLCODE, DELEGATECALL, STATICCALL. Operands: gas, account, a value for some, input range, output range. */

const VALUE_TRANSFER = 9_000
const NEW_ACCOUNT = 25_000
const STIPEND = 2_300

type Kind = 'CALL' | 'CALLCODE' | 'DELEGATECALL' | 'STATICCALL'

/** Depth of the input's offset below the top. */
const inputBelow = (kind: Kind): number => (kind === 'CALL' || kind === 'CALLCODE' ? 3 : 2)

const weiOf = (frame: Frame, kind: Kind): bigint => (inputBelow(kind) === 3 ? frame.peek(2) : 0n)

/** Loads the called account and its delegate; undefined: both are loaded. */
const loadTarget = ({ prefetch, journal, rules }: Execution, address: Hex): Promise<void> | undefined => {
  if (prefetch === undefined) return undefined
  const loading = prefetch.code(address)
  if (loading !== undefined || !rules.hasDelegation) return loading
  const target = delegationTarget(journal.code(address))
  return target === undefined ? undefined : prefetch.code(target)
}

/** Before EIP-158 any call of a missing account pays for it, later only one that transfers wei. */
const newAccountPrice = ({ rules, journal }: Execution, address: Hex, value: bigint): number => {
  if (!rules.sweepsEmpty) return journal.exists(address) ? 0 : NEW_ACCOUNT
  return value !== 0n && journal.isEmpty(address) ? NEW_ACCOUNT : 0
}

const delegationPrice = (vm: Execution, address: Hex): number => {
  if (!vm.rules.hasDelegation) return 0
  const target = delegationTarget(vm.journal.code(address))
  return target === undefined ? 0 : accessPrice(vm, target, 0)
}

const callPrice =
  (kind: Kind): Price =>
  (frame, vm) => {
    const address = addressOf(frame.peek(1))
    if (!canReach(frame, vm, address)) return Number.POSITIVE_INFINITY
    const loading = loadTarget(vm, address)
    if (loading !== undefined) return vm.waitFor(loading)
    const below = inputBelow(kind)
    const value = weiOf(frame, kind)
    let price = frame.memory.price(frame.peek(below), frame.peek(below + 1))
    price += frame.memory.price(frame.peek(below + 2), frame.peek(below + 3))
    price += accessPrice(vm, address, vm.rules.call)
    if (value !== 0n) price += VALUE_TRANSFER
    if (!canPay(frame, vm, price)) return price
    if (kind === 'CALL') price += newAccountPrice(vm, address, value)
    price += delegationPrice(vm, address)
    vm.target = address
    return passGas(frame, vm, price)
  }

/** Records the gas passed to the frame. Before EIP-150 a call with more than the remaining gas fails. */
const passGas = (frame: Frame, vm: Execution, price: number): number => {
  const most = gasToPass(frame, vm, price)
  if (most < 0) return price
  const asked = frame.peek(0)
  if (asked < most) vm.passedGas = typeof most === 'number' ? Number(asked) : asked
  else if (asked > most && !vm.rules.keepsSixtyFourth) return Number.POSITIVE_INFINITY
  else vm.passedGas = most
  return price
}

const withStipend = (gas: bigint | number): bigint | number =>
  typeof gas === 'number' ? gas + STIPEND : gas + BigInt(STIPEND)

/** Returns the message values visible to the called code. */
const contextOf = (
  kind: Kind,
  { context }: Frame,
  target: Hex,
  word: bigint,
  value: bigint,
  input: Uint8Array,
): FrameContext => {
  const { address, addressWord, caller, callerWord, isStatic } = context
  const own = { address, addressWord, input, isStatic, isCreation: false }
  if (kind === 'DELEGATECALL') return { ...own, caller, callerWord, value: context.value }
  const sent = { caller: address, callerWord: addressWord, value, input, isCreation: false }
  if (kind === 'CALLCODE') return { ...sent, address, addressWord, isStatic }
  const addressed = { address: target, addressWord: BigInt.asUintN(160, word) }
  return { ...sent, ...addressed, isStatic: isStatic || kind === 'STATICCALL' }
}

const call =
  (kind: Kind): Operation =>
  (frame, vm) => {
    const value = weiOf(frame, kind)
    if (kind === 'CALL' && value !== 0n && frame.context.isStatic) return frame.fail(FAULTS.staticStateChange)
    frame.height--
    const word = frame.pop()
    if (inputBelow(kind) === 3) frame.height--
    const inputAt = frame.pop()
    const input = frame.memory.slice(inputAt, frame.pop())
    frame.answerAt = Number(frame.pop())
    frame.answerSize = Number(frame.pop())
    frame.takeGas(vm.passedGas)
    const context = contextOf(kind, frame, vm.target, word, value, input)
    const gas = value === 0n ? vm.passedGas : withStipend(vm.passedGas)
    return openCall(vm, frame, { type: kind, context, codeAddress: vm.target, gas })
  }

const callEntry = (op: number, kind: Kind): OperationEntry => entry(op, 0, call(kind), callPrice(kind))

export const CALL_OPERATIONS: readonly OperationEntry[] = [
  callEntry(0xf1, 'CALL'),
  callEntry(0xf2, 'CALLCODE'),
  callEntry(0xf4, 'DELEGATECALL'),
  callEntry(0xfa, 'STATICCALL'),
]
