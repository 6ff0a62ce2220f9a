import type { Common } from '@ethereumjs/common'
import { EVMError } from '@ethereumjs/evm'
import { expandMemory, wordCount } from './fast-memory.ts'
import { Fault } from './fault-text.ts'
import { OPCODES } from './opcode-table.ts'
import type { OpcodeEntry, RunState } from './run-state.ts'

/*
 * What a traced opcode costs, and why it cannot run, in the order in which go-ethereum looks: stack, gas, then the opcode's own
 * conditions. The outcome is EthereumJS' in every case; only what is told of a failure depends on the order.
 */

const RETURNDATACOPY = 0x3e
const CALL = 0xf1
const { STACK_UNDERFLOW, STACK_OVERFLOW, OUT_OF_GAS, INVALID_OPCODE, STATIC_STATE_CHANGE } = EVMError.errorMessages

/** BALANCE, EXTCODESIZE, EXTCODECOPY, EXTCODEHASH and the calls: from Berlin on a warm access is the least they cost. */
const ACCOUNT_ACCESS: ReadonlySet<number> = new Set([0x31, 0x3b, 0x3c, 0x3f, 0xf1, 0xf2, 0xf4, 0xfa])
/** EXP and LOG: go-ethereum prices them as a whole. */
const PRICED_WHOLE: ReadonlySet<number> = new Set([0x0a, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4])
const PASSES_GAS: ReadonlySet<number> = new Set([0xf1, 0xf2, 0xf4, 0xfa])
/** SSTORE, LOG, CREATE, CREATE2, SELFDESTRUCT; CALL only with value. */
const WRITES: ReadonlySet<number> = new Set([0x55, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xf0, 0xf5, 0xff])

/** The part of the price that is known before the opcode is looked at closely. */
export const constantGas = (op: number, { opcodeInfo }: OpcodeEntry, common: Common): bigint => {
  if (opcodeInfo.isInvalid || PRICED_WHOLE.has(op)) return 0n
  if (ACCOUNT_ACCESS.has(op) && common.isActivatedEIP(2929)) return common.param('warmstoragereadGas')
  return opcodeInfo.feeBigInt
}

export const stackFault = (op: number, height: number, { opcodeInfo }: OpcodeEntry): Fault | undefined => {
  if (opcodeInfo.isInvalid) return undefined
  const { least, most } = OPCODES[op] as (typeof OPCODES)[number]
  if (height < least) return new Fault(STACK_UNDERFLOW, `stack underflow (${height} <=> ${least})`)
  return height > most ? new Fault(STACK_OVERFLOW, `stack limit reached ${height} (${most})`) : undefined
}

export const outOfGasFault = (): Fault => new Fault(OUT_OF_GAS, 'out of gas')

const returnDataCopyGas = (state: RunState, gas: bigint): bigint => {
  const [to, , length] = state.stack.peek(3) as [bigint, bigint, bigint]
  return gas + expandMemory(state, to, length) + 3n * wordCount(length)
}

/** The whole price, without the gas a call passes on. EthereumJS refuses writes of a static frame here, go-ethereum only when they run. */
export const dynamicGas = (state: RunState, entry: OpcodeEntry, common: Common): bigint | Promise<bigint> => {
  const { feeBigInt } = entry.opcodeInfo
  if (state.opCode === RETURNDATACOPY) return returnDataCopyGas(state, feeBigInt)
  if (!state.env.isStatic) return entry.gasHandler(state, feeBigInt, common)
  return asWritable(state, () => entry.gasHandler(state, feeBigInt, common))
}

const asWritable = async (state: RunState, price: () => bigint | Promise<bigint>): Promise<bigint> => {
  state.env.isStatic = false
  try {
    return await price()
  } finally {
    state.env.isStatic = true
  }
}

/** What a call hands to the frame it opens counts as its cost. */
export const passedGas = (state: RunState): bigint =>
  PASSES_GAS.has(state.opCode) ? (state.messageGasLimit ?? 0n) : 0n

const writes = ({ opCode, stack }: RunState): boolean =>
  WRITES.has(opCode) || (opCode === CALL && stack._store[stack._len - 3] !== 0n)

/** Why an opcode that is paid for fails all the same; what only shows while it runs its handler tells. */
export const conditionFault = (state: RunState, { opcodeInfo }: OpcodeEntry): Fault | undefined => {
  const { opCode, env, stack, returnBytes } = state
  if (opcodeInfo.isInvalid) return new Fault(INVALID_OPCODE, `invalid opcode: ${OPCODES[opCode]?.name}`)
  if (env.isStatic && writes(state)) return new Fault(STATIC_STATE_CHANGE, 'write protection')
  if (opCode !== RETURNDATACOPY) return undefined
  const end = (stack._store[stack._len - 2] as bigint) + (stack._store[stack._len - 3] as bigint)
  return end > BigInt(returnBytes.byteLength) ? new Fault(OUT_OF_GAS, 'return data out of bounds') : undefined
}
