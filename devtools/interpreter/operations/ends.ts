import type { Hex } from '@tandem/base/bytes.ts'
import { FAULTS } from '../fault.ts'
import { END, type Frame } from '../frame/frame.ts'
import { canPay, canReach } from '../prices.ts'
import type { Execution, Operation, Price } from '../transaction/execution.ts'
import { addressOf } from '../words.ts'
import { entry, type OperationEntry } from './operation.ts'

/* Opcodes that end their frame. */

const COLD_ACCOUNT = 2_600
const NEW_ACCOUNT = 25_000

const stop: Operation = () => END

const answerPrice: Price = frame => frame.memory.price(frame.peek(0), frame.peek(1))

const takeOutput = (frame: Frame): void => {
  const offset = frame.pop()
  frame.output = frame.memory.copy(offset, frame.pop())
}

const answer: Operation = frame => {
  takeOutput(frame)
  return END
}

const revert: Operation = frame => {
  takeOutput(frame)
  return frame.fail(FAULTS.revert)
}

/** EIP-150 and EIP-161: a beneficiary that does not exist before costs extra. */
const newBeneficiaryPrice = ({ rules, journal }: Execution, self: Hex, beneficiary: Hex): number => {
  if (!rules.chargesNewBeneficiary) return 0
  if (!rules.sweepsEmpty) return journal.exists(beneficiary) ? 0 : NEW_ACCOUNT
  return journal.balance(self) > 0n && journal.isEmpty(beneficiary) ? NEW_ACCOUNT : 0
}

const selfDestructPrice: Price = (frame, vm) => {
  if (frame.context.isStatic) return 0
  const beneficiary = addressOf(frame.peek(0))
  if (!canPay(frame, vm, vm.rules.selfDestruct) || !canReach(frame, vm, beneficiary)) return Number.POSITIVE_INFINITY
  const loading = vm.prefetch?.account(beneficiary)
  if (loading !== undefined) return vm.waitFor(loading)
  const price = newBeneficiaryPrice(vm, frame.context.address, beneficiary)
  // A warm beneficiary costs nothing extra.
  return vm.rules.hasAccessPrices && vm.access.touch(beneficiary) ? price + COLD_ACCOUNT : price
}

const selfDestruct: Operation = (frame, vm) => {
  const { address, isStatic } = frame.context
  if (isStatic) return frame.fail(FAULTS.staticStateChange)
  const beneficiary = addressOf(frame.pop())
  const { journal, rules, effects } = vm
  const balance = journal.balance(address)
  vm.reporter?.selfDestruct(frame.depth + 1, address, beneficiary, balance)
  if (vm.options.transfers && balance > 0n) effects.addTransfer(address, beneficiary, balance)
  if (beneficiary !== address && balance > 0n)
    effects.internal.push({ kind: 'selfdestruct', from: address, to: beneficiary, value: balance })
  if (!effects.destroyed.has(address)) vm.refund += rules.selfDestructRefund
  effects.destroyed.add(address)
  if (beneficiary !== address) give(vm, beneficiary, balance)
  // EIP-6780: an older account that names itself as beneficiary keeps its balance.
  const isEmptied = beneficiary !== address || !rules.destroysOnlyNew || effects.created.has(address)
  if (isEmptied) journal.setBalance(address, 0n)
  return END
}

/** A transfer of zero touches the account, and before EIP-158 creates it. */
const give = ({ journal, rules }: Execution, beneficiary: Hex, wei: bigint): void => {
  if (wei === 0n && rules.sweepsEmpty) journal.touch(beneficiary)
  else journal.addBalance(beneficiary, wei)
}

export const END_OPERATIONS: readonly OperationEntry[] = [
  entry(0x00, 0, stop),
  entry(0xf3, 0, answer, answerPrice),
  entry(0xfd, 0, revert, answerPrice),
  entry(0xff, rules => rules.selfDestruct, selfDestruct, selfDestructPrice),
]
