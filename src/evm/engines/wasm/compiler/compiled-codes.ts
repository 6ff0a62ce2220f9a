import type { EvmFork } from '../../../../config/forks.ts'
import { instantiate, type WasmModule } from '../../../../crypto/wasm/wasm.ts'
import type { Hex } from '../../../../util/bytes.ts'
import type { CodeCompiler, CodeHolder } from './code-compiler.ts'
import { IMPORT_MODULE, RUN } from './compile.ts'

interface FunctionTable {
  readonly length: number
  grow(count: number): number
  set(index: number, value: unknown): void
}

/** Exports of the interpreter's module that concern compiled codes. */
export interface CompiledExports {
  readonly table: FunctionTable
  wordsAt(): number
  scratchAt(): number
  setCompiled(code: number, entry: number): void
  setHotFrom(gas: bigint): void
  nextHotCode(): number
  /** Number of frames that have entered compiled code. */
  compiledEntries(): number
}

interface KnownCode {
  readonly hash: Hex
  readonly size: number
  /** Times that it has become hot. */
  timesHot: number
}

/** Instances of compiled codes in one machine: each shares its memory, and the interpreter calls it through the table. */
export class CompiledCodes implements CodeHolder {
  readonly #wasm: CompiledExports
  readonly #compiler: CodeCompiler
  readonly #read: (at: number, size: number) => Uint8Array
  /** Codes in the machine's memory by address. */
  readonly #known = new Map<number, KnownCode>()
  /** Index of its function in the table by hash; it stays when the code loses its place in memory. */
  readonly #entries = new Map<Hex, number>()
  readonly #freeEntries: number[] = []
  #fork: EvmFork

  constructor(
    wasm: CompiledExports,
    compiler: CodeCompiler,
    fork: EvmFork,
    read: (at: number, size: number) => Uint8Array,
  ) {
    this.#wasm = wasm
    this.#compiler = compiler
    this.#fork = fork
    this.#read = read
    wasm.setHotFrom(compiler.hotFrom)
    compiler.add(this)
  }

  /** Number of instances. */
  get count(): number {
    return this.#entries.size
  }

  /** Called when a code has been loaded. */
  loaded(at: number, hash: Hex, size: number): void {
    this.#known.set(at, { hash, size, timesHot: 0 })
    const entry = this.#entries.get(hash)
    if (entry !== undefined) {
      this.#wasm.setCompiled(at, entry)
      return
    }
    const module = this.#compiler.find(hash, this.#fork)
    if (module !== undefined) this.#install(at, hash, module)
    else if (this.#compiler.hotFrom === 0n) this.#request(at)
  }

  /** Called when the code at an address loses its place. */
  unloaded(at: number): void {
    const known = this.#known.get(at)
    this.#known.delete(at)
    // A code that the compiler does not keep is not requested again.
    if (known !== undefined && this.#compiler.find(known.hash, this.#fork) === undefined) this.#drop(known.hash)
  }

  /** Called when the machine runs another fork, without codes: prices are part of compiled code. */
  setFork(fork: EvmFork): void {
    for (const hash of this.#entries.keys()) this.#drop(hash)
    this.#fork = fork
  }

  /** Called when the machine drops its codes. */
  clear(): void {
    for (const at of this.#known.keys()) this.unloaded(at)
  }

  /** Called when the machine is dropped. */
  close(): void {
    this.#compiler.delete(this)
  }

  /** Number of frames that have entered compiled code. */
  get entries(): number {
    return this.#wasm.compiledEntries()
  }

  /** Requests compilation of the codes that have become hot. */
  requestHot(): void {
    for (let at = this.#wasm.nextHotCode(); at !== 0; at = this.#wasm.nextHotCode()) this.#request(at)
  }

  #request(at: number): void {
    const known = this.#known.get(at)
    // Code that the message itself has created is not known by its hash.
    if (known === undefined || this.#entries.has(known.hash)) return
    // Counted from zero again, should the request be ignored.
    this.#wasm.setCompiled(at, 0)
    const { hash, size } = known
    if (++known.timesHot < this.#compiler.timesHot(size)) return
    known.timesHot = 0
    const fork = this.#fork
    const addresses = { words: this.#wasm.wordsAt(), scratch: this.#wasm.scratchAt() }
    this.#compiler.request({ hash, fork, bytes: this.#read(at, size), addresses }, module => {
      if (this.#known.get(at) === known && this.#fork === fork) this.#install(at, hash, module)
    })
  }

  remove(hash: Hex, fork: EvmFork): void {
    if (fork !== this.#fork) return
    for (const [at, known] of this.#known) if (known.hash === hash) this.#wasm.setCompiled(at, 0)
    this.#drop(hash)
  }

  #install(at: number, hash: Hex, module: WasmModule): void {
    if (this.#entries.has(hash)) return
    const { table } = this.#wasm
    const instance = instantiate<Readonly<Record<typeof RUN, unknown>>>(module, { [IMPORT_MODULE]: this.#wasm })
    const entry = this.#freeEntries.pop() ?? table.grow(1)
    table.set(entry, instance[RUN])
    this.#entries.set(hash, entry)
    this.#wasm.setCompiled(at, entry)
  }

  /** Drops the instance of a code that no place in memory refers to. */
  #drop(hash: Hex): void {
    const entry = this.#entries.get(hash)
    if (entry === undefined) return
    this.#entries.delete(hash)
    this.#wasm.table.set(entry, null)
    this.#freeEntries.push(entry)
  }
}
