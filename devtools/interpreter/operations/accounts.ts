import type { Hex } from '@tandem/base/bytes.ts'
import type { Frame } from '../frame/frame.ts'
import { accessPrice, canReach, perWord } from '../prices.ts'
import type { EvmRules } from '../rules.ts'
import type { Execution, Operation, Price } from '../transaction/execution.ts'
import { addressOf, offsetFromWord } from '../words.ts'
import { entry, type OperationEntry } from './operation.ts'

/* Opcodes that read accounts. */

const COPY_WORD = 3

type Loading = (vm: Execution, address: Hex) => Promise<void> | undefined

const loadAccount: Loading = (vm, address) => vm.prefetch?.account(address)
const loadCode: Loading = (vm, address) => vm.prefetch?.code(address)

/** Price of an access to the account on top of the stack. */
const accountPrice =
  (load: Loading, before: (rules: EvmRules) => number): Price =>
  (frame, vm) => {
    const address = addressOf(frame.peek(0))
    if (!canReach(frame, vm, address)) return Number.POSITIVE_INFINITY
    const loading = load(vm, address)
    if (loading !== undefined) return vm.waitFor(loading)
    return accessPrice(vm, address, before(vm.rules))
  }

const balance: Operation = (frame, vm) => frame.push(vm.journal.balance(addressOf(frame.pop())))

const codeSize: Operation = (frame, vm) => frame.push(BigInt(vm.journal.code(addressOf(frame.pop())).byteLength))

const codeHash: Operation = (frame, { journal }) => {
  const address = addressOf(frame.pop())
  frame.push(journal.isEmpty(address) ? 0n : BigInt(journal.codeHash(address)))
}

const codeCopyPrice: Price = (frame, vm) => {
  const address = addressOf(frame.peek(0))
  if (!canReach(frame, vm, address)) return Number.POSITIVE_INFINITY
  const loading = loadCode(vm, address)
  if (loading !== undefined) return vm.waitFor(loading)
  const length = frame.peek(3)
  const memory = frame.memory.price(frame.peek(1), length)
  return memory + perWord(length, COPY_WORD) + accessPrice(vm, address, vm.rules.extCode)
}

const codeCopy: Operation = (frame: Frame, vm) => {
  const address = addressOf(frame.pop())
  const at = frame.pop()
  const from = offsetFromWord(frame.pop())
  const length = frame.pop()
  if (length !== 0n) frame.memory.write(Number(at), vm.journal.code(address), from, Number(length))
}

export const ACCOUNT_OPERATIONS: readonly OperationEntry[] = [
  entry(
    0x31,
    0,
    balance,
    accountPrice(loadAccount, rules => rules.balance),
  ),
  entry(
    0x3b,
    0,
    codeSize,
    accountPrice(loadCode, rules => rules.extCode),
  ),
  entry(0x3c, 0, codeCopy, codeCopyPrice),
  entry(
    0x3f,
    0,
    codeHash,
    accountPrice(loadAccount, rules => rules.extCodeHash),
  ),
]
