import { assert } from '@tandem/base/assert.ts'
import type { WasmConstant, WasmMemory } from './wasm.ts'

/** Exports of a module whose computations can be interrupted between two calls. */
export interface PausableExports {
  readonly memory: WasmMemory
  /** Address and size of the state of a computation between two calls. */
  readonly BLOCK: WasmConstant
  readonly BLOCK_SIZE: WasmConstant
}

/** Claim of one computation to the block. */
interface MemoryOwner {
  /** Saved state while another computation uses the block; undefined while the state is in place. */
  aside: Uint8Array | undefined
}

/**
 * Working memory of a module, shared by computations: each calls `enter` before it continues, and the state of the previous one
 * is saved until that one returns. Nothing is copied while only one is running. The module's memory must not grow.
 */
export class SharedWasmMemory {
  readonly #bytes: Uint8Array
  #memoryOwner: MemoryOwner | undefined = undefined

  constructor({ memory, BLOCK, BLOCK_SIZE }: PausableExports) {
    this.#bytes = new Uint8Array(memory.buffer, BLOCK.value, BLOCK_SIZE.value)
  }

  /** Starts a computation, which gets the block. */
  open(): MemoryOwner {
    const memoryOwner: MemoryOwner = { aside: undefined }
    if (this.#memoryOwner !== undefined) this.#memoryOwner.aside = this.#bytes.slice()
    this.#memoryOwner = memoryOwner
    return memoryOwner
  }

  enter(memoryOwner: MemoryOwner): void {
    if (this.#memoryOwner === memoryOwner) return
    assert(memoryOwner.aside !== undefined, 'a computation that is not at home left its memory aside')
    if (this.#memoryOwner !== undefined) this.#memoryOwner.aside = this.#bytes.slice()
    this.#bytes.set(memoryOwner.aside)
    memoryOwner.aside = undefined
    this.#memoryOwner = memoryOwner
  }

  /** Ends a computation: its state is no longer needed. */
  close(memoryOwner: MemoryOwner): void {
    if (this.#memoryOwner === memoryOwner) this.#memoryOwner = undefined
  }
}
