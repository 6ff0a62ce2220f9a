import type { Hex } from '@tandem/base/bytes.ts'
import type { EvmModule } from './evm-module.ts'

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
}

/** Codes in the memory of one machine by hash. */
export class LoadedCodes {
  readonly #memory: CodeMemory
  readonly #codes = new Map<Hex, KnownCode>()
  /** Hashes of the codes in each page. */
  #pages: Hex[][] = []

  constructor(memory: CodeMemory) {
    this.#memory = memory
  }

  /** Called before each message. */
  begin(): void {
    if (this.#memory.wasm.codePagesUsed() <= KEPT_PAGES) return
    this.#memory.wasm.dropCodes()
    this.#codes.clear()
    this.#pages = []
  }

  /** Assigns a code loaded earlier to the account; returns false when it is not loaded. */
  useKnown(entry: number, hash: Hex): boolean {
    const known = this.#codes.get(hash)
    if (known === undefined) return false
    this.#memory.wasm.useCode(entry, known.at, known.size, known.jumps)
    return true
  }

  /** Does nothing when there is no room: the message ends. */
  add(entry: number, hash: Hex, code: Uint8Array): void {
    const size = code.byteLength
    const { wasm } = this.#memory
    const at = wasm.codeRoom(size)
    if (at === 0) return
    const taken = wasm.codePageTaken()
    if (taken >= 0) {
      for (const old of this.#pages[taken] ?? []) this.#codes.delete(old)
      this.#pages[taken] = []
    }
    this.#memory.bytes.set(code, at)
    const jumps = wasm.keepCode(at, size)
    wasm.useCode(entry, at, size, jumps)
    const page = wasm.pageOf(at)
    if (page < 0) return
    this.#pages[page]?.push(hash)
    this.#codes.set(hash, { at, size, jumps })
  }
}
