import { assert } from '../util/assert.ts'
import type { WasmMemory } from './wasm.ts'

/** The exports of a module whose computations can be stopped between two calls. */
export interface BlockExports {
  readonly memory: WasmMemory
  /** Where all that a computation leaves between two calls lies, and its bytes. */
  blockAt(): number
  blockSize(): number
}

/** One computation's claim to the block. */
export interface Tenant {
  /** What it left behind when another came; undefined while it is at home. */
  aside: Uint8Array | undefined
}

/**
 * The working memory of a module, used by turns: a computation says `enter` before it goes on, and what the one before left there
 * is put aside until that one comes back. Nothing is copied while only one is under way. The module's memory must not grow.
 */
export class SharedBlock {
  readonly #bytes: Uint8Array
  #tenant: Tenant | undefined = undefined

  constructor({ memory, blockAt, blockSize }: BlockExports) {
    this.#bytes = new Uint8Array(memory.buffer, blockAt(), blockSize())
  }

  /** A new computation, which has the block now. */
  open(): Tenant {
    const tenant: Tenant = { aside: undefined }
    if (this.#tenant !== undefined) this.#tenant.aside = this.#bytes.slice()
    this.#tenant = tenant
    return tenant
  }

  enter(tenant: Tenant): void {
    if (this.#tenant === tenant) return
    assert(tenant.aside !== undefined, 'a computation that is not at home left its memory aside')
    if (this.#tenant !== undefined) this.#tenant.aside = this.#bytes.slice()
    this.#bytes.set(tenant.aside)
    tenant.aside = undefined
    this.#tenant = tenant
  }

  /** Done: nothing of it is needed any more. */
  close(tenant: Tenant): void {
    if (this.#tenant === tenant) this.#tenant = undefined
  }
}
