import { EMPTY_BYTES, type Hex, toWord } from '@tandem/base/bytes.ts'
import { MAX_UINT64, nextNonce } from '@tandem/base/uint64.ts'
import { initCodeSizeLimit } from '../../../src/rules/transaction.ts'
import { refusal } from '../calls.ts'
import { addressFor, beginCreation } from '../creations.ts'
import { FAULTS } from '../fault.ts'
import type { Frame } from '../frame/frame.ts'
import { gasToPass, perWord } from '../prices.ts'
import type { Execution, Operation, Price } from '../transaction/execution.ts'
import { entry, type OperationEntry } from './operation.ts'

/* CREATE and CREATE2: value, init code, and a salt. */

const CREATE = 32_000
const INIT_CODE_WORD = 2
const HASH_WORD = 6

/** Loads the account to be created, where reads are asynchronous; undefined: it is loaded. */
const loadCreated = (frame: Frame, vm: Execution, isSalted: boolean): Promise<void> | undefined => {
  if (vm.prefetch === undefined || frame.context.isStatic) return undefined
  const { address: creator } = frame.context
  const initCode = frame.memory.slice(frame.peek(1), frame.peek(2))
  const salt = isSalted ? toWord(frame.peek(3)) : undefined
  return vm.prefetch.code(addressFor({ creator, salt, initCode }, vm.journal.nonce(creator)))
}

const createPrice =
  (isSalted: boolean): Price =>
  (frame, vm) => {
    const length = frame.peek(2)
    const wordsBefore = frame.memory.words
    let price = frame.memory.price(frame.peek(1), length)
    if (vm.rules.boundsInitCode) price += perWord(length, INIT_CODE_WORD)
    if (isSalted) price += perWord(length, HASH_WORD)
    if (vm.rules.hasAccessPrices) vm.access.touch(frame.context.address)
    const most = gasToPass(frame, vm, CREATE + price)
    if (most < 0) return price
    vm.passedGas = most
    const loading = loadCreated(frame, vm, isSalted)
    if (loading === undefined) return price
    // It is priced again.
    frame.memory.words = wordsBefore
    return vm.waitFor(loading)
  }

const create =
  (isSalted: boolean): Operation =>
  (frame, vm) => {
    const { address, addressWord, isStatic } = frame.context
    if (isStatic) return frame.fail(FAULTS.staticStateChange)
    const value = frame.pop()
    const offset = frame.pop()
    const length = frame.pop()
    const salt: Hex | undefined = isSalted ? toWord(frame.pop()) : undefined
    if (vm.rules.boundsInitCode && length > BigInt(initCodeSizeLimit(vm.env.params)))
      return frame.fail(FAULTS.initCodeTooLarge)
    const initCode = frame.memory.slice(offset, length)
    frame.returnData = EMPTY_BYTES
    const gas = vm.passedGas
    const nonce = vm.journal.nonce(address)
    const refused = refusal(vm, frame, value)
    if (refused !== undefined || BigInt(nonce) >= MAX_UINT64) {
      const type = isSalted ? 'CREATE2' : 'CREATE'
      const start = {
        depth: frame.depth + 1,
        type,
        from: address,
        to: address,
        input: initCode,
        gas: BigInt(gas),
        value,
      } as const
      vm.reporter?.refuse(start, refused ?? 'nonce uint64 overflow')
      frame.push(0n)
      return undefined
    }
    frame.takeGas(gas)
    vm.journal.setNonce(address, nextNonce(nonce))
    return beginCreation(vm, frame, { creator: address, creatorWord: addressWord, value, initCode, salt, gas })
  }

export const CREATION_OPERATIONS: readonly OperationEntry[] = [
  entry(0xf0, CREATE, create(false), createPrice(false)),
  entry(0xf5, CREATE, create(true), createPrice(true)),
]
