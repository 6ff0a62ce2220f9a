import type { Common } from '@ethereumjs/common'
import type { EVMError, EVMResult, Message } from '@ethereumjs/evm'
import type { Account, Address, PrefixedHexString } from '@ethereumjs/util'
import type { JournalAdapter } from './journal-adapter.ts'
import type { MessageEffects, RawLog, UndoSet } from './message-effects.ts'
import type { WarmSet } from './warm-set.ts'

/*
 * The parts of EthereumJS' interpreter that this engine touches. The package exports the EVM but not its interpreter, so the
 * shapes are named here; test/property/executor-shadow.test.ts notices when a new version moves them.
 */

export interface Stack {
  /** Bottom first; items beyond `_len` are gone. */
  readonly _store: readonly bigint[]
  readonly _len: number
  push(value: bigint): void
  pop(): bigint
  peek(count?: number): bigint[]
}

export interface Memory {
  _store: Uint8Array
  extend(offset: number, size: number): void
  read(offset: number, size: number, avoidCopy?: boolean): Uint8Array
}

export interface Frame {
  readonly address: Address
  readonly caller: Address
  readonly origin: Address
  readonly callData: Uint8Array
  readonly depth: number
  readonly blobVersionedHashes: PrefixedHexString[]
  isStatic: boolean
  contract: Account
}

export interface RunState {
  programCounter: number
  opCode: number
  memory: Memory
  memoryWordCount: bigint
  highestMemCost: bigint
  stack: Stack
  code: Uint8Array
  shouldDoJumpAnalysis: boolean
  validJumps: Uint8Array
  cachedPushes: { [pc: number]: bigint }
  env: Frame
  interpreter: InterpreterBase
  stateManager: JournalAdapter
  gasRefund: bigint
  gasLeft: bigint
  /** Gas the call that was just priced passes on. */
  messageGasLimit?: bigint
  /** What the last call of this frame returned. */
  returnBytes: Uint8Array
}

export type GasHandler = (state: RunState, gas: bigint, common: Common) => bigint | Promise<bigint>
export type OpHandler = (state: RunState, common: Common) => void | Promise<void>

export interface OpcodeEntry {
  readonly opcodeInfo: {
    readonly fullName: string
    readonly feeBigInt: bigint
    readonly dynamicGas: boolean
    readonly isInvalid: boolean
  }
  readonly opHandler: OpHandler
  readonly gasHandler: GasHandler
}

export interface InterpreterResult {
  readonly runState: RunState
  readonly exceptionError?: EVMError
}

/** What a frame leaves besides its run state. */
export interface FrameResult {
  logs: RawLog[]
  returnValue?: Uint8Array
  selfdestruct: UndoSet
}

/** What a frame needs of the EVM that runs it. */
export interface FrameEvm {
  readonly transfers: boolean
  readonly effects: MessageEffects
  runCall(options: { message: Message }): Promise<EVMResult>
}

export interface InterpreterBase {
  readonly _runState: RunState
  readonly _result: FrameResult
  readonly journal: WarmSet
  readonly _env: Frame
  readonly _evm: FrameEvm
  readonly common: Common
  selfDestruct(beneficiary: Address): Promise<void>
  run(code: Uint8Array, options?: { pc?: number }): Promise<InterpreterResult>
  useGas(amount: bigint, context: string): void
  refundGas(amount: bigint): void
  subRefund(amount: bigint): void
  _baseCall(message: Message): Promise<bigint>
  create(gasLimit: bigint, value: bigint, initCode: Uint8Array, salt?: Uint8Array): Promise<bigint>
  _selfDestruct(to: Address): Promise<void>
}
export type InterpreterClass = new (...args: unknown[]) => InterpreterBase
