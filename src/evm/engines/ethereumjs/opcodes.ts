import type { Common } from '@ethereumjs/common'
import { bytesToHex, EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { MAX_UINT64 } from '@tandem/base/uint64.ts'
import type { FrameType } from '../../tracer.ts'
import { type CustomOpcode, type Logic, libraryOpcodes, type OpcodeState } from './deviations.ts'
import { stackAddress, watchedPrice } from './traced-step.ts'
import { runOf } from './watched-run.ts'

/* Opcodes of the library's EVM, its functions and prices, with checks of gas and time before expensive ones and jumps, and reports. */

type Price = NonNullable<CustomOpcode['gasFunction']>

const JUMP = 0x56
const JUMPI = 0x57
const SELFDESTRUCT = 0xff
const DEPTH_LIMIT = 1024
const STIPEND = 2_300n

const OPENING: ReadonlyMap<number, FrameType> = new Map([
  [0xf0, 'CREATE'],
  [0xf1, 'CALL'],
  [0xf2, 'CALLCODE'],
  [0xf4, 'DELEGATECALL'],
  [0xf5, 'CREATE2'],
  [0xfa, 'STATICCALL'],
])

/** Returns the reason why the library opens no frame; undefined: it does. */
const refusal = ({ interpreter, env }: OpcodeState, type: FrameType, wei: bigint): string | undefined => {
  if (env.depth >= DEPTH_LIMIT) return 'max call depth exceeded'
  if (env.contract.balance < wei) return 'insufficient balance for transfer'
  const isCreation = type === 'CREATE' || type === 'CREATE2'
  return isCreation && interpreter._env.contract.nonce >= MAX_UINT64 ? 'nonce uint64 overflow' : undefined
}

/** Bytes of memory, which the library may not have written yet. */
const memoryOf = ({ memory }: OpcodeState, offset: bigint, length: bigint): Uint8Array =>
  length === 0n ? EMPTY_BYTES : memory.read(Number(offset), Number(length))

const reportRefusal = (state: OpcodeState, type: FrameType, initCodeLimit: bigint): void => {
  const run = runOf(state)
  if (run.options.trace === undefined) return
  const isCreation = type === 'CREATE' || type === 'CREATE2'
  const hasValue = type === 'CALL' || type === 'CALLCODE'
  const operands = state.stack.peek(isCreation ? 3 : hasValue ? 5 : 4)
  const wei = isCreation ? (operands[0] as bigint) : hasValue ? (operands[2] as bigint) : 0n
  const [offset, length] = operands.slice(-2) as [bigint, bigint]
  const from = run.frame?.address
  const error = refusal(state, type, wei)
  if (from === undefined || error === undefined || (isCreation && length > initCodeLimit)) return
  const gas = (state.messageGasLimit ?? 0n) + (hasValue && wei > 0n ? STIPEND : 0n)
  const value = type === 'STATICCALL' ? undefined : type === 'DELEGATECALL' ? state.env.callValue : wei
  const to = isCreation ? from : stackAddress(operands[1] as bigint)
  run.refuse({ depth: state.env.depth + 1, type, from, to, input: memoryOf(state, offset, length), gas, value }, error)
}

const opening =
  (own: Logic, type: FrameType): Logic =>
  (state, common) => {
    const limit = common.isActivatedEIP(3860) ? common.param('maxInitCodeSize') : BigInt(Number.MAX_SAFE_INTEGER)
    reportRefusal(state, type, limit)
    runOf(state).opens = type
    return own(state, common)
  }

const destroying =
  (own: Logic): Logic =>
  (state, common) => {
    if (state.interpreter.isStatic() === false)
      runOf(state).selfDestruct(state, stackAddress(state.stack.peek(1)[0] as bigint))
    return own(state, common)
  }

const logging =
  (own: Logic): Logic =>
  async (state, common) => {
    await own(state, common)
    const log = state.interpreter._result.logs.at(-1)
    if (log === undefined) return
    const [address, topics, data] = log
    runOf(state).log({ address: bytesToHex(address), topics: topics.map(bytesToHex), data })
  }

const isLog = (opcode: number): boolean => opcode >= 0xa0 && opcode <= 0xa4

const reporting = ({ opcode, logicFunction: run }: CustomOpcode): Logic => {
  const type = OPENING.get(opcode)
  if (type !== undefined) return opening(run, type)
  if (opcode === SELFDESTRUCT) return destroying(run)
  return isLog(opcode) ? logging(run) : run
}

const checkedPrice =
  (own: Price | undefined): Price =>
  async (state, base, common) => {
    const gas = own === undefined ? base : await own(state, base, common)
    const pause = runOf(state).check(state, gas)
    if (pause !== undefined) await pause
    return gas
  }

const isChecked = ({ opcode, gasFunction }: CustomOpcode): boolean =>
  gasFunction !== undefined || opcode === JUMP || opcode === JUMPI

const checkedOpcodes = (common: Common): CustomOpcode[] =>
  libraryOpcodes(common)
    .filter(isChecked)
    .map(each => ({ ...each, logicFunction: reporting(each), gasFunction: checkedPrice(each.gasFunction) }))

/** Opcodes that report each step and access, all 256: also one that the fork does not have is a step. */
const watchedOpcodes = (common: Common): CustomOpcode[] => {
  const known = new Map(libraryOpcodes(common).map(each => [each.opcode, each]))
  return Array.from({ length: 256 }, (_, opcode): CustomOpcode => {
    const each = known.get(opcode)
    const gasFunction = watchedPrice(opcode, each, common, known)
    return each === undefined
      ? { opcode, opcodeName: 'INVALID', baseFee: 0, logicFunction: () => {}, gasFunction }
      : { ...each, logicFunction: reporting(each), gasFunction }
  })
}

/** Returns the opcodes of a fork: `isWatched` with a report of each step. */
export const evmOpcodes = (common: Common, isWatched: boolean): CustomOpcode[] =>
  isWatched ? watchedOpcodes(common) : checkedOpcodes(common)
