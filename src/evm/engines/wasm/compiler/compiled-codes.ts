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
}

interface KnownCode {
  readonly hash: Hex
  readonly size: number
  /** Index of its function in the table; 0: none. */
  entry: number
}

/** Instances of compiled codes in one machine: each shares its memory, and the interpreter calls it through the table. */
export class CompiledCodes implements CodeHolder {
  readonly #wasm: CompiledExports
  readonly #compiler: CodeCompiler
  readonly #read: (at: number, size: number) => Uint8Array
  /** Codes in the machine's memory by address. */
  readonly #known = new Map<number, KnownCode>()
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
    let count = 0
    for (const { entry } of this.#known.values()) if (entry !== 0) count++
    return count
  }

  /** Called when a code has been loaded. */
  loaded(at: number, hash: Hex, size: number): void {
    this.#known.set(at, { hash, size, entry: 0 })
    const module = this.#compiler.find(hash, this.#fork)
    if (module !== undefined) this.#install(at, module)
    else if (this.#compiler.hotFrom === 0n) this.#request(at)
  }

  /** Called when the code at an address loses its place. */
  unloaded(at: number): void {
    const known = this.#known.get(at)
    if (known !== undefined) this.#uninstall(at, known)
    this.#known.delete(at)
  }

  /** Called when the machine runs another fork, without codes: prices are part of compiled code. */
  setFork(fork: EvmFork): void {
    this.#fork = fork
  }

  /** Called when the machine drops its codes. */
  clear(): void {
    for (const [at, known] of this.#known) this.#uninstall(at, known)
    this.#known.clear()
  }

  /** Called when the machine is dropped. */
  close(): void {
    this.#compiler.delete(this)
  }

  /** Requests compilation of the codes that have become hot. */
  requestHot(): void {
    for (let at = this.#wasm.nextHotCode(); at !== 0; at = this.#wasm.nextHotCode()) this.#request(at)
  }

  #request(at: number): void {
    const known = this.#known.get(at)
    // Code that the message itself has created is not known by its hash.
    if (known === undefined || known.entry !== 0) return
    // Counted from zero again, should the request be ignored.
    this.#wasm.setCompiled(at, 0)
    const { hash, size } = known
    const fork = this.#fork
    const addresses = { words: this.#wasm.wordsAt(), scratch: this.#wasm.scratchAt() }
    this.#compiler.request({ hash, fork, bytes: this.#read(at, size), addresses }, module => {
      if (this.#known.get(at) === known && this.#fork === fork) this.#install(at, module)
    })
  }

  remove(hash: Hex, fork: EvmFork): void {
    if (fork !== this.#fork) return
    for (const [at, known] of this.#known) if (known.hash === hash) this.#uninstall(at, known)
  }

  #install(at: number, module: WasmModule): void {
    const known = this.#known.get(at)
    if (known === undefined || known.entry !== 0) return
    const { table } = this.#wasm
    const instance = instantiate<Readonly<Record<typeof RUN, unknown>>>(module, { [IMPORT_MODULE]: this.#wasm })
    known.entry = this.#freeEntries.pop() ?? table.grow(1)
    table.set(known.entry, instance[RUN])
    this.#wasm.setCompiled(at, known.entry)
  }

  #uninstall(at: number, known: KnownCode): void {
    if (known.entry === 0) return
    this.#wasm.setCompiled(at, 0)
    this.#wasm.table.set(known.entry, null)
    this.#freeEntries.push(known.entry)
    known.entry = 0
  }
}
