import { loadWasm, type WasmConstant, type WasmMemory } from '../../../crypto/wasm/wasm.ts'
import { SIZE } from './protocol.ts'

/** Functions that the step build calls (assembly/steps.ts). Addresses are those of the module's memory. */
export interface StepHooks {
  /** Before a watched opcode; true: `run` returns, and begins with the opcode again. */
  step(frame: number, op: number, refund: number): boolean
  /** A watched opcode is paid. */
  stepped(gas: number, refund: number): void
  failed(frame: number, op: number, height: number, before: number, after: number, refund: number): void
  entered(op: number, from: number, to: number, input: number, size: number, gas: number, value: number): void
  exited(result: number, left: number, data: number, size: number): void
  logged(at: number): void
  destructed(from: number, to: number, value: number): void
}

/** Exports of the interpreter (assembly/evm.ts). */
export interface EvmModule {
  readonly memory: WasmMemory
  layOut(
    accounts: number,
    slots: number,
    undo: number,
    logs: number,
    output: number,
    codePages: number,
    unpaged: number,
    most: number,
  ): boolean
  begin(
    fork: number,
    seed: bigint,
    keepsSlots: boolean,
    committed: boolean,
    codeLimit: number,
    initCodeLimit: number,
  ): void
  clearOpcodes(): void
  setOpcode(op: number, price: number, least: number, most: number, writes: boolean, priced: number): void
  watchOpcode(op: number, isWatched: boolean): void
  loadedSlot(account: number): number
  setBlobs(count: number): void
  run(slice: bigint): number
  readonly EXCHANGE: WasmConstant
  readonly WORDS: WasmConstant
  readonly BLOB_HASHES: WasmConstant
  readonly EMPTY_HASH: WasmConstant
  returnedAt(): number
  usedAccount(index: number): number
  usedSlot(index: number): number
  slotsMayStay(): number
  logsStartAt(): number
  logsEndAt(): number
  bloomOfLogs(): void
  readonly BLOOM: WasmConstant
  encodeLogs(): number
  encodedLogsAt(): number
  neededEntry(): number
  neededNumber(): bigint
  failReason(): number
  outcomeOf(): number
  gasLeftOf(): bigint
  outputSizeOf(): number
  refundOf(): bigint
  spareGasOf(): bigint
  isExhausted(): boolean
  codePagesUsed(): number
  codePageTaken(): number
  bytesUsed(): number
  frameGas(): bigint
  beginClock(gas: bigint, bound: bigint): void
  gasBoundLeft(): bigint
  gasBoundReached(): number
  inputAt(): number
  inputSize(): number
  account(): number
  warm(entry: number): void
  warmKey(entry: number): void
  delegate(entry: number): number
  createdBy(creator: number, nonce: bigint): number
  showKey(slot: number): void
  provideSlot(slot: number): void
  sender(warms: boolean, warmsCoinbase: boolean): number
  nextChanged(from: number): number
  nextChange(from: number): number
  provideHash(): void
  inputRoom(size: number): number
  startCall(from: number, to: number, runs: number, gas: bigint, size: number): number
  startCreation(from: number, created: number, gas: bigint, size: number): number
  precompiled(success: boolean, left: bigint, size: number): number
  codeRoom(size: number): number
  keepCode(code: number, size: number): number
  pageOf(code: number): number
  lacksCode(entry: number): number
  useCode(entry: number, code: number, size: number, jumps: number): void
  dropCodes(): void
}

const KIB = 1024
const MIB = 1024 * KIB
/** Sizes of regions, for all that 100 M gas pays for since Berlin (docs/design/evm-engine.md#memory-map); memory is taken as used. */
export const LAYOUT = {
  ...{ accounts: 64 * KIB, slots: 1024 * KIB, undo: 112 * MIB, logs: 32 * MIB, output: 16 * MIB },
  /**
   * Codes without a page, with an eighth for jumps: created by the message, 200 gas a byte, or beyond the size that a creation may have,
   * such as the overrides of a request (CALL_LIMITS.bodyBytes, two digits a byte).
   */
  unpaged: 4 * MIB,
} as const
/** Pages of codes: more than frames. A code beyond them is read from the store at each call, for 100 gas, so there are many. */
export const CODE_PAGES = 8 * KIB
/** Memory limit of a message's frames. */
const FRAME_BYTES = 128 * MIB

/** Loads an instance with its memory laid out, of the step build with hooks. Throws where the system does not let it be. */
export const loadEvmModule = (codePages: number, hooks: StepHooks | undefined): EvmModule => {
  const name = hooks === undefined ? 'evm' : 'evm-steps'
  const url = new URL(`./assembly/${name}.wasm`, import.meta.url)
  const wasm = loadWasm<EvmModule>(url, hooks && { host: hooks })
  const { accounts, slots, undo, logs, output, unpaged } = LAYOUT
  const codes = codePages * (SIZE.codePage + 4) + unpaged
  const rest = accounts * (SIZE.accountBytes + 12) + slots * (SIZE.slotBytes + 12) + undo + logs + output + codes
  if (!wasm.layOut(accounts, slots, undo, logs, output, codePages, unpaged, rest + FRAME_BYTES))
    throw new RangeError('the memory of the engine cannot be laid out')
  wasm.dropCodes()
  return wasm
}
