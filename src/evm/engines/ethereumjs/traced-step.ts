import type { Common } from '@ethereumjs/common'
import { EVMError } from '@ethereumjs/evm'
import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { delegationTarget } from '../../../primitives/transaction/delegation.ts'
import { REASON } from '../../failure-reasons.ts'
import { SHAPES } from '../../opcodes.ts'
import type { Step } from '../../tracer.ts'
import type { CustomOpcode, OpcodeState } from './deviations.ts'
import { type RunningFrame, runOf, type WatchedRun } from './watched-run.ts'

/* Steps in go-ethereum's form from the library's interpreter; costs and faults in the order of go-ethereum's checks. */

type Price = NonNullable<CustomOpcode['gasFunction']>
type Errors = keyof typeof EVMError.errorMessages

/** Fault of an opcode: the library's error, and the text of traces. */
interface Fault {
  readonly error: Errors
  readonly text: string
}

const STOP = 0x00
const RETURNDATACOPY = 0x3e
const CALLDATACOPY = 0x37
const PREVRANDAO = 0x44
const SLOAD = 0x54
const SSTORE = 0x55
const CREATE = 0xf0
const CREATE2 = 0xf5
const CALL = 0xf1
const SELFDESTRUCT = 0xff
const WARM_READ = 100n
/** Above this price of an opcode its operands are beyond any memory. */
const UNPAYABLE = 2n ** 43n
/** Gas with which a call that cannot be paid is priced. */
const AMPLE_GAS = 2n ** 60n

/** True for CALL and its kin. */
const isCall = (op: number): boolean => SHAPES[op]?.target !== undefined
/** EXP and LOG: go-ethereum prices them as a whole. */
const PRICED_WHOLE: ReadonlySet<number> = new Set([0x0a, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4])
const ENDS: ReadonlySet<number> = new Set([STOP, 0xf3, SELFDESTRUCT])

/** Converts a word of the stack to the address in it. */
export const stackAddress = (word: bigint): Hex => `0x${toWord(BigInt.asUintN(160, word)).slice(26)}`

const nameOf = (op: number, common: Common): string =>
  op === PREVRANDAO && !common.gteHardfork('paris') ? 'DIFFICULTY' : (SHAPES[op]?.name ?? '')

/** One opcode before it runs; stack, memory and return data are those of the library. */
class LibraryStep implements Step {
  readonly #state: OpcodeState
  readonly address: Hex
  readonly pc: number
  readonly op: number
  readonly name: string
  readonly gas: bigint
  readonly depth: number
  readonly memorySize: number
  cost = 0n
  error: string | undefined = undefined

  constructor(state: OpcodeState, address: Hex, op: number, name: string) {
    this.#state = state
    this.address = address
    this.pc = state.programCounter
    this.op = op
    this.name = name
    this.gas = state.gasLeft
    this.depth = state.env.depth + 1
    this.memorySize = Number(state.memoryWordCount) * 32
  }

  get refund(): bigint {
    return this.#state.gasRefund
  }
  get stack(): readonly bigint[] {
    return this.#state.stack.getStack()
  }
  get stackSize(): number {
    return this.#state.stack.length
  }
  get memory(): Uint8Array {
    return this.#state.memory._store
  }
  get returnData(): Uint8Array {
    return this.#state.returnBytes
  }
}

/** Reports the STOP behind the end of the code, which the library does not run. */
export const showImplicitStop = ({ options: { trace } }: WatchedRun, { state, address }: RunningFrame): void => {
  if (trace === undefined || state === undefined) return
  if (state.programCounter < state.code.length || ENDS.has(state.opCode)) return
  trace.tracer.step?.(new LibraryStep(state, address, STOP, 'STOP'))
}

const fail = (frame: RunningFrame, { error, text }: Fault): never => {
  frame.fault = text
  throw new EVMError(EVMError.errorMessages[error])
}

const OUT_OF_GAS: Fault = { error: 'OUT_OF_GAS', text: REASON.outOfGas }

const stackFault = (op: number, height: number): Fault | undefined => {
  const { least, most } = SHAPES[op] as (typeof SHAPES)[number]
  if (height < least) return { error: 'STACK_UNDERFLOW', text: `${REASON.stackUnderflow} (${height} <=> ${least})` }
  return height > most ? { error: 'STACK_OVERFLOW', text: `${REASON.stackOverflow} ${height} (${most})` } : undefined
}

/** Returns the part of the price that is known before the operands are read. */
const constantGas = (op: number, fee: bigint, common: Common): bigint => {
  if (PRICED_WHOLE.has(op)) return 0n
  const { account, target } = SHAPES[op] as (typeof SHAPES)[number]
  const isPricedByAccess = op !== SELFDESTRUCT && (account ?? target) !== undefined
  if (isPricedByAccess && common.isActivatedEIP(2929)) return WARM_READ
  return fee
}

/** Loads an account and its delegate (EIP-7702), and returns the delegate. */
const loadAccount = async ({ journal, options: { prefetch } }: WatchedRun, address: Hex): Promise<Hex | undefined> => {
  await prefetch?.code(address)
  const target = delegationTarget(journal.code(address))
  if (target !== undefined) await prefetch?.code(target)
  return target
}

/** Loads the state that an opcode names, and records the access. */
const touchNamed = async (op: number, state: OpcodeState, run: WatchedRun, address: Hex, common: Common) => {
  const { prefetch, accesses, trace } = run.options
  if (prefetch === undefined && accesses === undefined) return
  const isStatic = state.interpreter.isStatic()
  const recorder =
    common.isActivatedEIP(2929) && !(isStatic && (op === SSTORE || op === SELFDESTRUCT)) ? accesses : undefined
  const operand = (below: number): bigint => state.stack.peek(below + 1)[below] as bigint
  if (op === SLOAD || op === SSTORE) {
    const slot = toWord(operand(0))
    if (trace !== undefined) await prefetch?.slot(address, slot)
    if (op === SLOAD || (recorder && state.gasLeft > common.param('sstoreSentryEIP2200Gas')))
      recorder?.slot(address, slot)
  } else if (SHAPES[op]?.account === 0) {
    const named = stackAddress(operand(0))
    if (trace !== undefined) await loadAccount(run, named)
    recorder?.address(named)
  } else if (isCall(op)) {
    const named = stackAddress(operand(1))
    const target = await loadAccount(run, named)
    recorder?.address(named)
    if (target !== undefined && common.isActivatedEIP(7702)) recorder?.address(target)
  } else if (op === CREATE || op === CREATE2) recorder?.address(address)
}

/** Prices a call that the library finds too expensive; without the gas passed on. Undefined: it needs more gas than it has. */
const unpaidCall = async (
  own: Price,
  state: OpcodeState,
  base: bigint,
  common: Common,
  cold: bigint,
): Promise<bigint | undefined> => {
  const { gasLeft } = state
  state.gasLeft = AMPLE_GAS
  const gas = (await own(state, base, common)) + cold
  state.gasLeft = gasLeft
  return gas > gasLeft ? gas : undefined
}

/** Extra price of what a call would warm. */
const coldExtra = (state: OpcodeState, common: Common, run: WatchedRun): bigint => {
  if (!common.isActivatedEIP(2929)) return 0n
  const [, word] = state.stack.peek(2) as [bigint, bigint]
  const address = stackAddress(word)
  const target = common.isActivatedEIP(7702) ? delegationTarget(run.journal.code(address)) : undefined
  const { journal } = state.interpreter
  const isCold = (hex: Hex): boolean => !journal.isWarmedAddress(Buffer.from(hex.slice(2), 'hex'))
  const cold = [address, ...(target === undefined || target === address ? [] : [target])].filter(isCold).length
  return BigInt(cold) * (common.param('coldaccountaccessGas') - common.param('warmstoragereadGas'))
}

const callPrice = async (
  own: Price,
  state: OpcodeState,
  base: bigint,
  common: Common,
  run: WatchedRun,
): Promise<bigint | undefined> => {
  if (run.options.trace === undefined) return own(state, base, common)
  const { memoryWordCount, highestMemCost } = state
  await loadAccount(run, stackAddress(state.stack.peek(2)[1] as bigint))
  const cold = coldExtra(state, common, run)
  try {
    return await own(state, base, common)
  } catch (error) {
    if (!(error instanceof EVMError) || error.error !== EVMError.errorMessages.OUT_OF_GAS) throw error
    Object.assign(state, { memoryWordCount, highestMemCost })
    return unpaidCall(own, state, base, common, cold)
  }
}

/** Prices an opcode as though its frame were not static; undefined: more than any gas. */
const priceOf = async (
  op: number,
  own: Price,
  state: OpcodeState,
  base: bigint,
  common: Common,
  run: WatchedRun,
): Promise<bigint | undefined> => {
  const { _env: env } = state.interpreter
  const { isStatic } = env
  if (isStatic && (op === SSTORE || op === SELFDESTRUCT)) return base
  env.isStatic = false
  try {
    const gas = isCall(op) ? await callPrice(own, state, base, common, run) : await own(state, base, common)
    return gas === undefined || gas > UNPAYABLE ? undefined : gas
  } catch (error) {
    if (error instanceof EVMError && error.error === EVMError.errorMessages.OUT_OF_GAS) return undefined
    throw error
  } finally {
    env.isStatic = isStatic
  }
}

/** Condition of an opcode that go-ethereum checks once it is paid. */
const lateFault = (op: number, isKnown: boolean, state: OpcodeState): Fault | undefined => {
  if (!isKnown) return { error: 'INVALID_OPCODE', text: `${REASON.invalidOpcode}: ${SHAPES[op]?.name}` }
  const { interpreter, stack } = state
  const writes = SHAPES[op]?.writes || (op === CALL && stack.peek(3)[2] !== 0n)
  if (writes && interpreter.isStatic()) return { error: 'STATIC_STATE_CHANGE', text: REASON.staticStateChange }
  return op === RETURNDATACOPY && isOutOfReturnData(state)
    ? { error: 'OUT_OF_GAS', text: 'return data out of bounds' }
    : undefined
}

const isOutOfReturnData = ({ stack, returnBytes }: OpcodeState): boolean => {
  const [, from, length] = stack.peek(3) as [bigint, bigint, bigint]
  return from + length > BigInt(returnBytes.length)
}

/** Returns the price of an opcode that also reports its step and accesses. `known` has the opcodes of the fork. */
export const watchedPrice = (
  op: number,
  opcode: CustomOpcode | undefined,
  shared: Common,
  known: ReadonlyMap<number, CustomOpcode>,
): Price => {
  const fee = BigInt(opcode?.baseFee ?? 0)
  const name = nameOf(op, shared)
  const constant = opcode === undefined ? 0n : constantGas(op, fee, shared)
  const copyPrice = known.get(CALLDATACOPY)?.gasFunction
  return async (state, base, common) => {
    const run = runOf(state)
    const { frame, options } = run
    if (frame === undefined) return base
    const { trace } = options
    if (trace?.backpressure.isFull) await trace.backpressure.drained()
    const step = new LibraryStep(state, frame.address, op, name)
    const show = (cost: bigint, fault?: Fault): void => {
      step.cost = cost
      step.error = fault?.text
      trace?.tracer.step?.(step)
      if (fault !== undefined) fail(frame, fault)
    }
    const early = opcode === undefined ? undefined : stackFault(op, state.stack.length)
    if (early !== undefined) show(constant, early)
    if (trace !== undefined && state.gasLeft < constant) show(constant, OUT_OF_GAS)
    await touchNamed(op, state, run, frame.address, common)
    const own = op === RETURNDATACOPY && isOutOfReturnData(state) ? copyPrice : opcode?.gasFunction
    const gas = own === undefined ? base : await priceOf(op, own, state, base, common, run)
    if (gas === undefined) show(constant, OUT_OF_GAS)
    const cost = gas ?? 0n
    if (state.gasLeft < cost) show(cost, OUT_OF_GAS)
    show(cost + (isCall(op) ? (state.messageGasLimit ?? 0n) : 0n))
    const late = lateFault(op, opcode !== undefined, state)
    if (late !== undefined) fail(frame, late)
    const pause = run.check(state, cost)
    if (pause !== undefined) await pause
    return cost
  }
}
