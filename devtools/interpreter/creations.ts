import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { type Nonce, uint64FromBigint } from '@tandem/base/uint64.ts'
import { keccak256Hex } from '../../src/crypto/hash.ts'
import { create2Address, createAddress } from '../../src/primitives/receipt/address.ts'
import { codeSizeLimit, initCodeSizeLimit } from '../../src/rules/transaction.ts'
import { EMPTY_CODE_HASH, EMPTY_ROOT } from '../../src/state/account.ts'
import type { Journal } from '../../src/state/journal/journal.ts'
import { transfer } from './calls.ts'
import { FAULTS, type Fault } from './fault.ts'
import { Code } from './frame/code.ts'
import { Frame, type Signal, SWITCH } from './frame/frame.ts'
import type { Execution } from './transaction/execution.ts'

/** Gas per byte of code. */
const CODE_BYTE = 200
const OBJECT_FORMAT_BYTE = 0xef

/** Creation, from code or from a transaction. */
interface CreationStart {
  readonly creator: Hex
  readonly creatorWord: bigint
  readonly value: bigint
  readonly initCode: Uint8Array
  /** Salt of CREATE2. */
  readonly salt: Hex | undefined
  readonly gas: bigint | number
}

/** Returns the address of a creation, from its creator's previous nonce. */
export const addressFor = (
  { creator, salt, initCode }: Pick<CreationStart, 'creator' | 'salt' | 'initCode'>,
  nonce: Nonce,
): Hex => (salt === undefined ? createAddress(creator, nonce) : create2Address(creator, salt, keccak256Hex(initCode)))

const nonceBefore = (nonce: Nonce): Nonce => (nonce === 0 ? 0 : uint64FromBigint(BigInt(nonce) - 1n))

/** Returns the address of a transaction's creation; the sender's nonce is already raised. */
export const createdBy = (journal: Journal, creator: Hex): Hex =>
  createAddress(creator, nonceBefore(journal.nonce(creator)))

/** True for an account with nonce, code or slots (EIP-684 and EIP-7610). */
const isTaken = ({ journal }: Execution, address: Hex): boolean => {
  const account = journal.account(address)
  if (account === undefined) return false
  return account.nonce !== 0 || account.codeHash !== EMPTY_CODE_HASH || account.storageRoot !== EMPTY_ROOT
}

/** Starts a creation whose creator's nonce is already raised; one without init code has ended when this returns. */
export const beginCreation = (vm: Execution, opener: Frame | undefined, start: CreationStart): Signal | undefined => {
  const { creator, value, initCode, gas } = start
  const address = addressFor(start, nonceBefore(vm.journal.nonce(creator)))
  if (vm.rules.hasAccessPrices) vm.access.warm(address)
  vm.reporter?.enter({
    depth: opener === undefined ? 0 : opener.depth + 1,
    type: start.salt === undefined ? 'CREATE' : 'CREATE2',
    from: creator,
    to: address,
    input: initCode,
    gas: BigInt(gas),
    value,
  })
  const marks = vm.mark()
  const fail = (fault: Fault, gasLeft: bigint | number): Signal | undefined => {
    vm.revert(marks)
    return endCreation(vm, opener, gasLeft, EMPTY_BYTES, fault, address)
  }
  if (vm.rules.boundsInitCode && initCode.byteLength > initCodeSizeLimit(vm.env.params))
    return fail(FAULTS.initCodeTooLarge, 0)
  vm.effects.created.add(address)
  if (isTaken(vm, address)) return fail(FAULTS.createCollision, 0)
  if (opener !== undefined) vm.effects.internal.push({ kind: 'create', from: creator, to: address, value })
  if (!endow(vm, creator, address, value)) return fail(FAULTS.valueOverflow, gas)
  if (initCode.byteLength === 0) return endCreation(vm, opener, gas, EMPTY_BYTES, undefined, address)
  const context = {
    address,
    addressWord: BigInt(address),
    caller: creator,
    callerWord: start.creatorWord,
    value,
    input: EMPTY_BYTES,
    isStatic: false,
    isCreation: true,
  }
  vm.frame = new Frame(opener, context, new Code(initCode), gas, marks, vm.workspaces.take())
  return SWITCH
}

/** Creates the account with the value added to the balance at its address. */
const endow = (vm: Execution, creator: Hex, address: Hex, value: bigint): boolean => {
  const { journal, rules } = vm
  if (vm.options.transfers && value > 0n) vm.effects.addTransfer(creator, address, value)
  journal.createAccount(address)
  if (rules.sweepsEmpty) journal.setNonce(address, 1)
  return transfer(vm, creator, address, value)
}

/** Returns the fault of a creation's frame at its end, after its code is stored. */
export const settleCreation = (vm: Execution, frame: Frame): Fault | undefined => frame.fault ?? depositCode(vm, frame)

/** Stores the output of init code as the account's code, or returns the fault. */
const depositCode = ({ rules, journal, env }: Execution, frame: Frame): Fault | undefined => {
  const { output } = frame
  const price = output.byteLength * CODE_BYTE
  // EIP-170.
  if (rules.sweepsEmpty && output.byteLength > codeSizeLimit(env.params)) return FAULTS.codeTooLarge
  if (frame.gasLeft < BigInt(price)) {
    if (rules.codeMustBePaid) return FAULTS.codeNotPaid
    frame.output = EMPTY_BYTES
    return undefined
  }
  if (rules.refusesObjectFormat && output[0] === OBJECT_FORMAT_BYTE) return FAULTS.codeInvalid
  frame.takeGas(price)
  if (output.byteLength > 0) journal.setCode(frame.context.address, output)
  return undefined
}

/** Returns the result of a creation to its opener, or makes it the message's outcome. */
export const endCreation = (
  vm: Execution,
  opener: Frame | undefined,
  gasLeft: bigint | number,
  output: Uint8Array,
  fault: Fault | undefined,
  address: Hex,
): Signal | undefined => {
  vm.reporter?.exit(BigInt(gasLeft), output, fault?.text)
  if (opener === undefined) return vm.end({ fault, gasLeft: BigInt(gasLeft), output, created: address })
  opener.giveGas(gasLeft)
  opener.returnData = fault === FAULTS.revert ? output : EMPTY_BYTES
  opener.push(fault === undefined ? BigInt(address) : 0n)
  return vm.resume(opener)
}
