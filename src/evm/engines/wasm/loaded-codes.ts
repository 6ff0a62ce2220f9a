import type { EvmFork } from '../../../config/forks.ts'
import type { Hex } from '../../../util/bytes.ts'
import { compilerCounts } from '../engine-counts.ts'
import type { CodeCompiler } from './compiler/code-compiler.ts'
import { CompiledCodes } from './compiler/compiled-codes.ts'
import type { EvmModule } from './evm-module.ts'

/** Most codes whose jump destinations are remembered when they lose their place. */
const KEPT_JUMPS = 8 * 1024
/** Most pages whose codes stay for the next message. */
const KEPT_PAGES = 128
interface KnownCode {
  readonly at: number
  readonly size: number
  readonly jumps: number
}

/** Memory of the machine that the codes are in. */
interface CodeMemory {
  readonly wasm: EvmModule
  readonly compiler: CodeCompiler | undefined
  /** Changes when the memory grows. */
  readonly bytes: Buffer
  copy(at: number, size: number): Uint8Array
}

/** Codes in the memory of one machine by hash, and the compiled ones among them. */
export class LoadedCodes {
  readonly #memory: CodeMemory
  readonly #codes = new Map<Hex, KnownCode>()
  /** Hashes of the codes in each page. */
  #pages: Hex[][] = []
  /** Jump destinations of codes that lost their place during the message. */
  readonly #jumps = new Map<Hex, Uint8Array>()
  #compiled: CompiledCodes | undefined = undefined
  #entriesSeen = 0

  constructor(memory: CodeMemory) {
    this.#memory = memory
  }

  /** Called before the first message of another fork. */
  setFork(fork: EvmFork): void {
    this.#drop()
    this.#compiled?.setFork(fork)
  }

  /** Called before each message. */
  begin(fork: EvmFork): void {
    const { wasm, compiler } = this.#memory
    if (wasm.codePagesUsed() > KEPT_PAGES) this.#drop()
    if (compiler !== undefined)
      this.#compiled ??= new CompiledCodes(wasm, compiler, fork, (at, size) => this.#memory.copy(at, size))
  }

  /** Assigns a code loaded earlier to the account; returns false when it is not loaded. */
  useKnown(entry: number, hash: Hex): boolean {
    const known = this.#codes.get(hash)
    if (known === undefined) return false
    this.#memory.wasm.useCode(entry, known.at, known.size, known.jumps)
    return true
  }

  /** Returns false when there is no room for it. */
  add(entry: number, hash: Hex, code: Uint8Array): boolean {
    const size = code.byteLength
    const { wasm } = this.#memory
    const at = wasm.codeRoom(size)
    if (at === 0) return false
    const taken = wasm.codePageTaken()
    if (taken >= 0) this.#takePage(taken)
    this.#memory.bytes.set(code, at)
    const known = this.#jumps.get(hash)
    const jumps = wasm.keepCode(at, size, known !== undefined)
    if (known !== undefined) this.#memory.bytes.set(known, jumps)
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
        this.#jumps.set(hash, this.#memory.copy(jumps, (size >> 3) + 1))
      this.#codes.delete(hash)
      this.#compiled?.unloaded(at)
    }
    this.#pages[page] = []
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

  #drop(): void {
    this.#compiled?.clear()
    this.#memory.wasm.dropCodes()
    this.#codes.clear()
    this.#pages = []
  }
}
