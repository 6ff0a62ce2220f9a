import type { Common } from '@ethereumjs/common'
import { EVMError } from '@ethereumjs/evm'
import { keccak256Hex } from '../../crypto/hash.ts'
import { bytesToHex, EMPTY_BYTES, type Hex, hexToBytes, toWord, ZERO_HASH } from '../../util/bytes.ts'
import { ARITHMETIC } from './fast-arithmetic.ts'
import { expandMemory, outOfGas, wordCount } from './fast-memory.ts'
import type { GasHandler, OpcodeEntry, OpHandler, RunState } from './run-state.ts'

/*
 * Synchronous forms of EthereumJS' hottest gas and opcode handlers: its own are async throughout, and each await costs as much as
 * the opcode. Same prices, same order of checks; shadow mode and the state tests hold them against the originals. Rules of Berlin
 * and later only: before that fork `fastTable` leaves the originals in place.
 */

const staticStateChange = (): never => {
  throw new EVMError(EVMError.errorMessages.STATIC_STATE_CHANGE)
}

const memoryRange =
  (lengthAt: number): GasHandler =>
  (state, gas) => {
    const items = state.stack.peek(lengthAt + 1)
    return gas + expandMemory(state, items[0] as bigint, items[lengthAt] as bigint)
  }

const memoryWord =
  (size: bigint): GasHandler =>
  (state, gas) =>
    gas + expandMemory(state, state.stack.peek(1)[0] as bigint, size)

const copyGas: GasHandler = (state, gas) => {
  const [to, , length] = state.stack.peek(3) as [bigint, bigint, bigint]
  return gas + expandMemory(state, to, length) + 3n * wordCount(length)
}

const keccakGas: GasHandler = (state, gas) => {
  const [offset, length] = state.stack.peek(2) as [bigint, bigint]
  return gas + expandMemory(state, offset, length) + 6n * wordCount(length)
}

const logGas: GasHandler = (state, gas) => {
  if (state.env.isStatic) staticStateChange()
  const [offset, length] = state.stack.peek(2) as [bigint, bigint]
  return gas + expandMemory(state, offset, length) + 375n * BigInt(state.opCode - 0xa0) + 8n * length
}

const sloadGas: GasHandler = (state, gas, common) => {
  const slot = toWord(state.stack.peek(1)[0] as bigint)
  const loading = state.stateManager.prefetch?.slot(bytesToHex(state.env.address.bytes), slot)
  return loading === undefined
    ? sloadPrice(state, gas, common, slot)
    : loading.then(() => sloadPrice(state, gas, common, slot))
}

const sloadPrice = (state: RunState, gas: bigint, common: Common, slot: Hex): bigint => {
  const cold = state.interpreter.journal.warmSlot(bytesToHex(state.env.address.bytes), slot)
  return gas + common.param(cold ? 'coldsloadGas' : 'warmstoragereadGas')
}

/** EIP-2200 with the prices of EIP-2929 and the refunds of EIP-3529. */
const sstoreGas: GasHandler = (state, gas, common) => {
  if (state.env.isStatic) staticStateChange()
  const [key, next] = state.stack.peek(2) as [bigint, bigint]
  if (state.gasLeft <= common.param('sstoreSentryEIP2200Gas')) outOfGas()
  const slot = toWord(key)
  const loading = state.stateManager.prefetch?.slot(bytesToHex(state.env.address.bytes), slot)
  if (loading === undefined) return sstorePrice(state, gas, common, slot, toWord(next))
  return loading.then(() => sstorePrice(state, gas, common, slot, toWord(next)))
}

const sstorePrice = (state: RunState, gas: bigint, common: Common, slot: Hex, value: Hex): bigint => {
  const address = bytesToHex(state.env.address.bytes)
  const { journal } = state.stateManager
  const current = journal.storage(address, slot)
  const original = journal.originalStorage(address, slot)
  const cost = sstoreCost(state, common, original, current, value)
  const cold = state.interpreter.journal.warmSlot(address, slot)
  return cold ? gas + cost + common.param('coldsloadGas') : gas + cost
}

const sstoreCost = (state: RunState, common: Common, original: Hex, current: Hex, value: Hex): bigint => {
  const { interpreter } = state
  const warmRead = common.param('warmstoragereadGas')
  if (current === value) return warmRead
  const clean = common.param('sstoreCleanEIP2200Gas')
  const clearRefund = common.param('sstoreClearRefundEIP2200Gas')
  if (original === current) {
    if (original === ZERO_HASH) return common.param('sstoreInitEIP2200Gas')
    if (value === ZERO_HASH) interpreter.refundGas(clearRefund)
    return clean
  }
  if (original !== ZERO_HASH) {
    if (current === ZERO_HASH) interpreter.subRefund(clearRefund)
    else if (value === ZERO_HASH) interpreter.refundGas(clearRefund)
  }
  if (original === value) {
    const first = original === ZERO_HASH ? common.param('sstoreInitEIP2200Gas') : clean
    interpreter.refundGas(first - warmRead)
  }
  return common.param('sstoreDirtyEIP2200Gas')
}

const sload: OpHandler = state => {
  const slot = toWord(state.stack.pop())
  state.stack.push(BigInt(state.stateManager.journal.storage(bytesToHex(state.env.address.bytes), slot)))
}

const sstore: OpHandler = state => {
  const key = state.stack.pop()
  const value = state.stack.pop()
  state.stateManager.journal.setStorage(bytesToHex(state.env.address.bytes), toWord(key), toWord(value))
}

const keccak: OpHandler = state => {
  const offset = state.stack.pop()
  const length = state.stack.pop()
  const data = length === 0n ? EMPTY_BYTES : state.memory.read(Number(offset), Number(length), true)
  state.stack.push(BigInt(keccak256Hex(data)))
}

const mload: OpHandler = state => {
  const offset = Number(state.stack.pop())
  state.stack.push(BigInt(bytesToHex(state.memory.read(offset, 32, true))))
}

const mstore: OpHandler = state => {
  const offset = Number(state.stack.pop())
  const value = state.stack.pop()
  const { memory } = state
  memory.extend(offset, 32)
  // `prepareMemory` and `growMemory` made it a Buffer.
  const store = memory._store as Buffer
  if (value > 0xffff_ffffn) store.write(value.toString(16).padStart(64, '0'), offset, 32, 'hex')
  else store.fill(0, offset, offset + 28).writeUInt32BE(Number(value), offset + 28)
}

const log: OpHandler = state => {
  const { stack, opCode, memory, env, interpreter } = state
  const offset = stack.pop()
  const length = stack.pop()
  const topics: Uint8Array[] = []
  for (let topic = 0xa0; topic < opCode; topic++) topics.push(hexToBytes(toWord(stack.pop())))
  const data = length === 0n ? EMPTY_BYTES : memory.read(Number(offset), Number(length))
  interpreter._result.logs.push([env.address.bytes, topics, data])
}

/** What a handler answers that ends its frame without a fault: EthereumJS' own throw for that. */
export const ENDED: Promise<void> = Promise.resolve()

const stop: OpHandler = () => ENDED

const returnData: OpHandler = ({ stack, memory, interpreter }) => {
  const offset = stack.pop()
  const length = stack.pop()
  interpreter._result.returnValue = length === 0n ? new Uint8Array(0) : memory.read(Number(offset), Number(length))
  return ENDED
}

const pushAddress =
  (of: 'address' | 'caller' | 'origin'): OpHandler =>
  state =>
    state.stack.push(BigInt(bytesToHex(state.env[of].bytes)))

const GAS: readonly (readonly [number, GasHandler])[] = [
  [0x20, keccakGas],
  [0x37, copyGas],
  [0x39, copyGas],
  [0x51, memoryWord(32n)],
  [0x52, memoryWord(32n)],
  [0x53, memoryWord(1n)],
  [0x54, sloadGas],
  [0x55, sstoreGas],
  [0xa0, logGas],
  [0xa1, logGas],
  [0xa2, logGas],
  [0xa3, logGas],
  [0xa4, logGas],
  [0xf3, memoryRange(1)],
  [0xfd, memoryRange(1)],
]

const OPERATIONS: readonly (readonly [number, OpHandler])[] = [
  ...ARITHMETIC,
  [0x00, stop],
  [0x20, keccak],
  [0x30, pushAddress('address')],
  [0x32, pushAddress('origin')],
  [0x33, pushAddress('caller')],
  [0x51, mload],
  [0x52, mstore],
  [0x54, sload],
  [0x55, sstore],
  [0xa0, log],
  [0xa1, log],
  [0xa2, log],
  [0xa3, log],
  [0xa4, log],
  [0xf3, returnData],
]

const gasHandlers = new Map(GAS)
const operations = new Map(OPERATIONS)

/** EthereumJS' table of a fork with the synchronous forms in place. */
export const fastTable = (table: readonly OpcodeEntry[], common: Common): readonly OpcodeEntry[] => {
  if (!common.isActivatedEIP(2929) || common.isActivatedEIP(7864) || common.isActivatedEIP(8037)) return table
  return table.map((entry, code) =>
    entry.opcodeInfo.isInvalid
      ? entry
      : {
          opcodeInfo: entry.opcodeInfo,
          gasHandler: gasHandlers.get(code) ?? entry.gasHandler,
          opHandler: operations.get(code) ?? entry.opHandler,
        },
  )
}
