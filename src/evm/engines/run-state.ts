import type { Common } from '@ethereumjs/common'
import type { EVMError } from '@ethereumjs/evm'
import type { Account, Address } from '@ethereumjs/util'
import type { JournalAdapter } from './journal-adapter.ts'
import type { WarmSet } from './warm-set.ts'

/*
 * The parts of EthereumJS' interpreter that this engine touches. The package exports the EVM but not its interpreter, so the
 * shapes are named here; test/property/executor-shadow.test.ts notices when a new version moves them.
 */

export interface Stack {
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
  readonly isStatic: boolean
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
}

export type GasHandler = (state: RunState, gas: bigint, common: Common) => bigint | Promise<bigint>
export type OpHandler = (state: RunState, common: Common) => void | Promise<void>

export interface OpcodeEntry {
  readonly opcodeInfo: { readonly feeBigInt: bigint; readonly dynamicGas: boolean; readonly isInvalid: boolean }
  readonly opHandler: OpHandler
  readonly gasHandler: GasHandler
}

export interface InterpreterResult {
  readonly runState: RunState
  readonly exceptionError?: EVMError
}

/** What a frame leaves besides its run state. */
export interface FrameResult {
  logs: [Uint8Array, Uint8Array[], Uint8Array][]
  returnValue?: Uint8Array
  selfdestruct: Map<Hex, Hex>
  createdAddresses?: Set<Hex>
}

export interface InterpreterBase {
  readonly _runState: RunState
  readonly _result: FrameResult
  readonly journal: WarmSet
  readonly _env: Frame
  readonly _evm: { readonly transfers: boolean }
  selfDestruct(beneficiary: Address): Promise<void>
  run(code: Uint8Array, options?: { pc?: number }): Promise<InterpreterResult>
  refundGas(amount: bigint): void
  subRefund(amount: bigint): void
}
type Hex = `0x${string}`

export type InterpreterClass = new (...args: unknown[]) => InterpreterBase
