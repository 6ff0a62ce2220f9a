import { randomBytes } from 'node:crypto'
import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import type { EvmFork } from '../../../config/forks.ts'
import type { WasmMemory } from '../../../crypto/wasm/wasm.ts'
import { codeSizeLimit, initCodeSizeLimit } from '../../../rules/transaction.ts'
import { EMPTY_CODE_HASH } from '../../../state/account.ts'
import type { EngineEnv } from '../../block-env.ts'
import { type OpcodeShape, opcodesOf, SHAPES } from '../../opcodes.ts'
import type { Tracer } from '../../tracer.ts'
import { type EvmModule, loadEvmModule, type StepHooks } from './evm-module.ts'
import { LoadedCodes } from './loaded-codes.ts'
import { ACCOUNT, WORD } from './protocol.ts'

const WORD_BYTES = 32

/** Instance of the interpreter with views of its memory. It runs one message at a time. */
export class Machine {
  readonly wasm: EvmModule
  readonly codePages: number
  readonly exchange: number
  readonly codes: LoadedCodes
  readonly #words: number
  readonly #memory: WasmMemory
  #buffer: ArrayBuffer
  #usedBytes = 0
  bytes: Buffer
  view: DataView
  #fork: EvmFork | undefined = undefined
  #env: EngineEnv | undefined = undefined
  /** Versions of the storage under the last message, and after it; undefined: its slots cannot stay. */
  #kept: { readonly before: number; readonly after: number | undefined } | undefined = undefined
  /** Slots of earlier messages are present. */
  #hasSlots = false
  /** Addresses of this message's accounts by entry: a string made anew costs every map that it is looked up in. */
  readonly #addresses = new Map<number, Hex>()

  readonly isStepping: boolean
  /** Receives the calls of a step machine while a message runs. */
  hooks: StepHooks | undefined = undefined
  #watched: Tracer['watches'] = 'none'

  /** `isStepping`: of the step build. Throws where the system does not let its memory be laid out. */
  constructor(codePages: number, isStepping: boolean) {
    const wasm = loadEvmModule(codePages, isStepping ? this.#forwarded() : undefined)
    this.wasm = wasm
    this.codePages = codePages
    this.isStepping = isStepping
    this.exchange = wasm.EXCHANGE.value
    this.#words = wasm.WORDS.value
    this.#memory = wasm.memory
    this.#buffer = wasm.memory.buffer
    this.bytes = Buffer.from(this.#buffer)
    this.view = new DataView(this.#buffer)
    this.codes = new LoadedCodes(this)
    this.bytes.write(EMPTY_CODE_HASH.slice(2), wasm.EMPTY_HASH.value, 'hex')
  }

  #forwarded(): StepHooks {
    const hooks = (): StepHooks => this.hooks as StepHooks
    return {
      step: (frame, op, refund) => hooks().step(frame, op, refund),
      stepped: (gas, refund) => hooks().stepped(gas, refund),
      failed: (...fault) => hooks().failed(...fault),
      entered: (...start) => hooks().entered(...start),
      exited: (...end) => hooks().exited(...end),
      logged: at => hooks().logged(at),
      destructed: (...moved) => hooks().destructed(...moved),
    }
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

  /** Writes the input of a message for the module; returns false when there is no room. */
  putInput(data: Uint8Array): boolean {
    const at = this.wasm.inputRoom(data.byteLength)
    if (at === 0) return false
    this.refresh()
    this.bytes.set(data, at)
    return true
  }

  /** `version`: of the storage under the message; slots loaded from the same storage stay. */
  begin(env: EngineEnv, fork: EvmFork, place: number, version: number): void {
    const { wasm } = this
    const kept = this.#kept
    const committed = kept?.after === version
    this.#hasSlots = committed || kept?.before === version
    this.#kept = undefined
    if (fork !== this.#fork) {
      this.#fork = fork
      wasm.clearOpcodes()
      for (const { op, price } of opcodesOf(fork)) {
        const { least, most, writes = false, priced = 0 } = SHAPES[op] as OpcodeShape
        wasm.setOpcode(op, price, least * WORD_BYTES, most * WORD_BYTES, writes, priced)
      }
      this.#watched = 'none'
    }
    this.codes.begin()
    // Memory used by the previous message is no longer visible after this.
    this.#usedBytes = this.usedBytes
    const { params } = env
    wasm.begin(place, SEED, this.#hasSlots, committed, codeSizeLimit(params), initCodeSizeLimit(params))
    this.#addresses.clear()
    if (env !== this.#env) this.#writeEnv(env)
  }

  /** Chooses the opcodes at which a step machine stops. */
  watch(watched: NonNullable<Tracer['watches']>): void {
    if (watched === this.#watched) return
    this.#watched = watched
    for (const { op, name, slot, account, target } of SHAPES) {
      const isNamed = (slot ?? account ?? target) !== undefined || name.startsWith('CREATE')
      this.wasm.watchOpcode(op, watched === 'all' || (watched === 'named' && isNamed))
    }
  }

  /** Called when the message has ended, with the versions of the storage under and after it; undefined: its changes are dropped. */
  keepSlots(before: number, after: number | undefined): void {
    if (this.wasm.slotsMayStay()) this.#kept = { before, after }
  }

  #writeEnv(env: EngineEnv): void {
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
    const at = this.wasm.BLOB_HASHES.value
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
      address = this.readHex(entry + ACCOUNT.addressBytes, 20)
      this.#addresses.set(entry, address)
    }
    return address
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
}

/** Seed of the hash tables, against chosen collisions; no result depends on it. */
const SEED = randomBytes(8).readBigUInt64LE()
