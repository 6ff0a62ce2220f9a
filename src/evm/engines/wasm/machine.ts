import { randomBytes } from 'node:crypto'
import type { EvmFork } from '../../../config/forks.ts'
import { loadWasm, type WasmMemory } from '../../../crypto/wasm/wasm.ts'
import { EMPTY_CODE_HASH } from '../../../state/account.ts'
import { EMPTY_BYTES, type Hex } from '../../../util/bytes.ts'
import type { BlockEnv } from '../../block-env.ts'
import { compilerCounts } from '../engine-counts.ts'
import type { CodeCompiler } from './compiler/code-compiler.ts'
import { CompiledCodes, type CompiledExports } from './compiler/compiled-codes.ts'
import { opcodesOf } from './opcodes.ts'
import { ACCOUNT, WORD } from './protocol.ts'

interface Exports extends CompiledExports {
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
  begin(fork: number, seed: bigint, keepsSlots: boolean, committed: boolean): void
  clearOpcodes(): void
  setOpcode(op: number, price: number, least: number, most: number): void
  setBlobs(count: number): void
  run(slice: bigint): number
  exchangeAt(): number
  blobHashesAt(): number
  emptyHashAt(): number
  returnedAt(): number
  usedAccount(index: number): number
  usedSlot(index: number): number
  slotsMayStay(): number
  logsStartAt(): number
  logsEndAt(): number
  bloomOfLogs(): void
  bloomAt(): number
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
  keepCode(code: number, size: number, isAnalysed: boolean): number
  pageOf(code: number): number
  lacksCode(entry: number): number
  useCode(entry: number, code: number, size: number, jumps: number): void
  dropCodes(): void
}

const KIB = 1024
const MIB = 1024 * KIB
/**
 * Sizes of the regions: room for all that 100 M gas can pay for under the rules of Berlin and later (docs/design/evm-engine.md#memory-map).
 * A region takes memory as it is used.
 */
const LAYOUT = {
  ...{ accounts: 64 * KIB, slots: 1024 * KIB, undo: 112 * MIB, logs: 32 * MIB, output: 16 * MIB },
  /** Codes without a page: created by the message, 200 gas a byte, or beyond the size that a creation may have. */
  unpaged: 2 * MIB,
} as const
/**
 * Pages of codes: more than there are frames. A code beyond them is read from the store at each call by which it gets its place back, for
 * 100 gas, so there are many.
 */
export const CODE_PAGES = 8 * KIB
const CODE_PAGE_BYTES = 28 * KIB
/** Most codes whose jump destinations are remembered when they lose their place. */
const KEPT_JUMPS = 8 * KIB
/** Most pages whose codes stay for the next message. */
const KEPT_PAGES = 128
/** Memory limit of a message's frames. */
const FRAME_BYTES = 128 * MIB

interface KnownCode {
  readonly at: number
  readonly size: number
  readonly jumps: number
}

/** Instance of the interpreter with views of its memory. It runs one message at a time. */
export class Machine {
  readonly wasm: Exports
  readonly codePages: number
  readonly exchange: number
  readonly compiler: CodeCompiler | undefined
  #compiled: CompiledCodes | undefined = undefined
  #entriesSeen = 0
  /** Codes in its memory by hash. */
  readonly #codes = new Map<Hex, KnownCode>()
  /** Hashes of the codes in each page. */
  #pages: Hex[][] = []
  /** Jump destinations of codes that lost their place during the message. */
  readonly #jumps = new Map<Hex, Uint8Array>()
  readonly #words: number
  readonly #memory: WasmMemory
  #buffer: ArrayBuffer
  #usedBytes = 0
  bytes: Buffer
  view: DataView
  #fork: EvmFork | undefined = undefined
  #env: BlockEnv | undefined = undefined
  /** Versions of the storage under the last message, and after it; undefined: its slots cannot stay. */
  #kept: { readonly before: number; readonly after: number | undefined } | undefined = undefined
  /** Slots of earlier messages are present. */
  #hasSlots = false
  /** Addresses of this message's accounts by entry: a string made anew costs every map that it is looked up in. */
  readonly #addresses = new Map<number, Hex>()

  /** Throws where the system does not let its memory be laid out. */
  constructor(codePages: number, compiler?: CodeCompiler) {
    const wasm = loadWasm<Exports>(new URL('./assembly/evm.wasm', import.meta.url))
    const { accounts, slots, undo, logs, output, unpaged } = LAYOUT
    const codes = codePages * (CODE_PAGE_BYTES + 4) + unpaged
    const rest = accounts * 236 + slots * 140 + undo + logs + output + codes
    if (!wasm.layOut(accounts, slots, undo, logs, output, codePages, unpaged, rest + FRAME_BYTES))
      throw new RangeError('the memory of the engine cannot be laid out')
    wasm.dropCodes()
    this.wasm = wasm
    this.compiler = compiler
    this.codePages = codePages
    this.exchange = wasm.exchangeAt()
    this.#words = wasm.wordsAt()
    this.#memory = wasm.memory
    this.#buffer = wasm.memory.buffer
    this.bytes = Buffer.from(this.#buffer)
    this.view = new DataView(this.#buffer)
    this.bytes.write(EMPTY_CODE_HASH.slice(2), wasm.emptyHashAt(), 'hex')
  }

  /** Memory that it has used so far, and keeps: what was laid out and never touched takes none. */
  get usedBytes(): number {
    this.#usedBytes = Math.max(this.#usedBytes, this.wasm.bytesUsed())
    return this.#usedBytes
  }

  /** Views become invalid when the memory grows: called after anything that may grow it. */
  refresh(): void {
    const { buffer } = this.#memory
    if (buffer === this.#buffer) return
    this.#buffer = buffer
    this.bytes = Buffer.from(buffer)
    this.view = new DataView(buffer)
  }

  run(slice: bigint): number {
    const status = this.wasm.run(slice)
    this.refresh()
    return status
  }

  /** Requests compilation of codes that have become hot. */
  compileHot(): void {
    this.#compiled?.requestHot()
  }
  /** Counts entries of compiled code for the metrics. */
  countCompiled(): void {
    if (this.#compiled === undefined) return
    const { entries } = this.#compiled
    compilerCounts.entries += (entries - this.#entriesSeen) >>> 0
    this.#entriesSeen = entries
  }
  /** Number of codes that it has compiled. */
  get compiledCount(): number {
    return this.#compiled?.count ?? 0
  }
  /** Called when the message has ended, or failed. */
  rest(): void {
    this.#jumps.clear()
  }

  /** Called when the machine is dropped. */
  close(): void {
    this.#compiled?.close()
  }

  /** Writes the input of a message for the module; returns false when there is no room. */
  putInput(data: Uint8Array): boolean {
    const at = this.wasm.inputRoom(data.byteLength)
    if (at === 0) return false
    this.refresh()
    this.bytes.set(data, at)
    return true
  }

  /** `version`: of the storage under the message; slots loaded from the same storage stay. */
  begin(env: BlockEnv, fork: EvmFork, place: number, version: number): void {
    const { wasm } = this
    const kept = this.#kept
    const committed = kept?.after === version
    this.#hasSlots = committed || kept?.before === version
    this.#kept = undefined
    if (fork !== this.#fork) {
      this.#fork = fork
      wasm.clearOpcodes()
      for (const { op, price, least, most } of opcodesOf(fork)) wasm.setOpcode(op, price, least, most)
      this.#dropCodes()
      this.#compiled?.setFork(fork)
    }
    if (wasm.codePagesUsed() > KEPT_PAGES) this.#dropCodes()
    if (this.compiler !== undefined)
      this.#compiled ??= new CompiledCodes(wasm, this.compiler, fork, (at, size) => this.copy(at, size))
    // Memory used by the previous message is no longer visible after this.
    this.#usedBytes = this.usedBytes
    wasm.begin(place, SEED, this.#hasSlots, committed)
    this.#addresses.clear()
    if (env !== this.#env) this.#writeEnv(env)
  }

  /** Called when the message has ended, with the versions of the storage under and after it; undefined: its changes are dropped. */
  keepSlots(before: number, after: number | undefined): void {
    if (this.wasm.slotsMayStay()) this.#kept = { before, after }
  }

  #dropCodes(): void {
    this.#compiled?.clear()
    this.wasm.dropCodes()
    this.#codes.clear()
    this.#pages = []
  }

  #writeEnv(env: BlockEnv): void {
    this.#env = env
    this.setWord(WORD.coinbase, BigInt(env.miner))
    this.setWord(WORD.timestamp, BigInt(env.timestamp))
    this.setWord(WORD.number, BigInt(env.number))
    this.setWord(WORD.prevRandao, BigInt(env.prevRandao))
    this.setWord(WORD.gasLimit, env.gasLimit)
    this.setWord(WORD.chainId, BigInt(env.params.chainId))
    this.setWord(WORD.baseFee, env.baseFeePerGas)
    this.setWord(WORD.blobBaseFee, env.blobs?.baseFeePerGas ?? 0n)
  }

  setWord(place: number, value: bigint): void {
    this.writeWord(this.#words + place * 32, value)
  }

  /** Writes a word in the interpreter's form: four limbs, the lowest first. */
  writeWord(at: number, value: bigint): void {
    const { view } = this
    view.setBigUint64(at, value, true)
    const second = value > 0xffff_ffff_ffff_ffffn ? value >> 64n : 0n
    view.setBigUint64(at + 8, second, true)
    const isWide = second > 0xffff_ffff_ffff_ffffn
    view.setBigUint64(at + 16, isWide ? value >> 128n : 0n, true)
    view.setBigUint64(at + 24, isWide ? value >> 192n : 0n, true)
  }

  putBlobHashes(hashes: readonly Hex[]): void {
    this.wasm.setBlobs(hashes.length)
    const at = this.wasm.blobHashesAt()
    for (const [i, hash] of hashes.entries()) this.writeWord(at + i * 32, BigInt(hash))
  }

  readWord(at: number): bigint {
    const { view } = this
    const first = view.getBigUint64(at, true)
    const second = view.getBigUint64(at + 8, true)
    const low = second === 0n ? first : first | (second << 64n)
    const high = view.getBigUint64(at + 16, true) | (view.getBigUint64(at + 24, true) << 64n)
    return high === 0n ? low : low | (high << 128n)
  }

  /** Returns bytes in memory of their own. */
  copy(at: number, size: number): Uint8Array {
    if (size === 0) return EMPTY_BYTES
    const out = new Uint8Array(size)
    out.set(this.bytes.subarray(at, at + size))
    return out
  }

  readHex(at: number, size: number): Hex {
    return `0x${this.bytes.hexSlice(at, at + size)}`
  }

  addressOf(entry: number): Hex {
    let address = this.#addresses.get(entry)
    if (address === undefined) {
      address = this.readHex(entry + ACCOUNT.address, 20)
      this.#addresses.set(entry, address)
    }
    return address
  }
  nonceOf(entry: number): bigint {
    return this.view.getBigUint64(entry + ACCOUNT.nonce, true)
  }
  /** Capacity of the return region in bytes. */
  returnRoom(): number {
    return LAYOUT.output
  }
  /** Writes a value for the module to the exchange. */
  writeExchange(value: bigint): void {
    const { view, exchange } = this
    if (value <= 0xffff_ffff_ffff_ffffn) {
      view.setBigUint64(exchange, 0n)
      view.setBigUint64(exchange + 8, 0n)
      view.setBigUint64(exchange + 16, 0n)
      view.setBigUint64(exchange + 24, value)
    } else this.bytes.hexWrite(value.toString(16).padStart(64, '0'), exchange, 32)
  }

  /** Writes an address, key or word for the module to the exchange. */
  putWord(hex: Hex): void {
    const digits = hex.slice(2)
    const { bytes, view, exchange } = this
    if (digits.length === 40) {
      view.setBigUint64(exchange, 0n)
      view.setUint32(exchange + 8, 0)
      bytes.hexWrite(digits, exchange + 12, 20)
    } else bytes.hexWrite(digits, exchange, 32)
  }

  entryOf(address: Hex): number {
    this.putWord(address)
    return this.#named(this.wasm.account(), address)
  }

  /** Returns the account of the message's sender. */
  senderOf(address: Hex, warms: boolean, warmsCoinbase: boolean): number {
    this.putWord(address)
    return this.#named(this.wasm.sender(warms, warmsCoinbase), address)
  }

  #named(entry: number, address: Hex): number {
    this.#addresses.set(entry, address)
    return entry
  }

  /** Assigns a code loaded earlier to the account; returns false when it is not loaded. */
  useKnownCode(entry: number, hash: Hex): boolean {
    const known = this.#codes.get(hash)
    if (known === undefined) return false
    this.wasm.useCode(entry, known.at, known.size, known.jumps)
    return true
  }

  /** Returns false when there is no room for it. */
  addCode(entry: number, hash: Hex, code: Uint8Array): boolean {
    const size = code.byteLength
    const { wasm } = this
    const at = wasm.codeRoom(size)
    if (at === 0) return false
    const taken = wasm.codePageTaken()
    if (taken >= 0) this.#takePage(taken)
    this.bytes.set(code, at)
    const known = this.#jumps.get(hash)
    const jumps = wasm.keepCode(at, size, known !== undefined)
    if (known !== undefined) this.bytes.set(known, jumps)
    wasm.useCode(entry, at, size, jumps)
    const page = wasm.pageOf(at)
    if (page < 0) return true
    this.#pages[page]?.push(hash)
    this.#codes.set(hash, { at, size, jumps })
    this.#compiled?.loaded(at, hash, size)
    return true
  }

  /** Forgets the codes of a page: a code is loaded into it. */
  #takePage(page: number): void {
    for (const hash of this.#pages[page] ?? []) {
      const { at, size, jumps } = this.#codes.get(hash) as KnownCode
      // A warm code is loaded again for 100 gas: its analysis is not repeated.
      if (this.#jumps.size < KEPT_JUMPS && !this.#jumps.has(hash))
        this.#jumps.set(hash, this.copy(jumps, (size >> 3) + 1))
      this.#codes.delete(hash)
      this.#compiled?.unloaded(at)
    }
    this.#pages[page] = []
  }
}

/** Seed of the hash tables, against chosen collisions; no result depends on it. */
const SEED = randomBytes(8).readBigUInt64LE()
