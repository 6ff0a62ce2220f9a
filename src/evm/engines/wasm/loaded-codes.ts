import type { Hex } from '@tandem/base/bytes.ts'
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
  /** Changes when the memory grows. */
  readonly bytes: Buffer
  copy(at: number, size: number): Uint8Array
}

/** Codes in the memory of one machine by hash. */
export class LoadedCodes {
  readonly #memory: CodeMemory
  readonly #codes = new Map<Hex, KnownCode>()
  /** Hashes of the codes in each page. */
  #pages: Hex[][] = []
  /** Jump destinations of codes that lost their place during the message. */
  readonly #jumps = new Map<Hex, Uint8Array>()

  constructor(memory: CodeMemory) {
    this.#memory = memory
  }

  /** Called before each message. */
  begin(): void {
    if (this.#memory.wasm.codePagesUsed() > KEPT_PAGES) this.#drop()
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
    return true
  }

  /** Forgets the codes of a page: a code is loaded into it. */
  #takePage(page: number): void {
    for (const hash of this.#pages[page] ?? []) {
      const { size, jumps } = this.#codes.get(hash) as KnownCode
      // A warm code is loaded again for 100 gas: its analysis is not repeated.
      if (this.#jumps.size < KEPT_JUMPS && !this.#jumps.has(hash))
        this.#jumps.set(hash, this.#memory.copy(jumps, (size >> 3) + 1))
      this.#codes.delete(hash)
    }
    this.#pages[page] = []
  }

  /** Called when the message has ended, or failed. */
  rest(): void {
    this.#jumps.clear()
  }

  #drop(): void {
    this.#memory.wasm.dropCodes()
    this.#codes.clear()
    this.#pages = []
  }
}
