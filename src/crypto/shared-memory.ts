import { assert } from '../util/assert.ts'
import type { WasmMemory } from './wasm.ts'

/** The exports of a module whose computations can be stopped between two calls. */
export interface PausableExports {
  readonly memory: WasmMemory
  /** Where all that a computation leaves between two calls lies, and its bytes. */
  blockAt(): number
  blockSize(): number
}

/** One computation's claim to the block. */
export interface MemoryOwner {
  /** What it left behind when another came; undefined while it is at home. */
  aside: Uint8Array | undefined
}

/**
 * The working memory of a module, used by turns: a computation says `enter` before it goes on, and what the one before left there
 * is put aside until that one comes back. Nothing is copied while only one is under way. The module's memory must not grow.
 */
export class SharedWasmMemory {
  readonly #bytes: Uint8Array
  #memoryOwner: MemoryOwner | undefined = undefined

  constructor({ memory, blockAt, blockSize }: PausableExports) {
    this.#bytes = new Uint8Array(memory.buffer, blockAt(), blockSize())
  }

  /** A new computation, which has the block now. */
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

  /** Done: nothing of it is needed any more. */
  close(memoryOwner: MemoryOwner): void {
    if (this.#memoryOwner === memoryOwner) this.#memoryOwner = undefined
  }
}
