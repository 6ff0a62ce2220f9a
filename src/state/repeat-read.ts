import type { Hex } from '../util/bytes.ts'
import type { Account } from './account.ts'
import type { AsyncStateReader, StateReader } from './reader.ts'

/** Thrown through the reading code; never leaves `repeatUntilRead`. */
class MissingRead extends Error {
  override readonly name = 'MissingRead'
}

/** Synchronous reads of what has been loaded; the first read of anything else names what to load and stops the work. */
class LoadedReader implements StateReader {
  readonly #accounts = new Map<Hex, Account | undefined>()
  readonly #slots = new Map<string, Hex>()
  readonly #codes = new Map<Hex, Uint8Array>()
  readonly #source: AsyncStateReader
  #missing: (() => Promise<void>) | undefined

  constructor(source: AsyncStateReader) {
    this.#source = source
  }

  account(address: Hex): Account | undefined {
    const found = this.#accounts.get(address)
    if (found !== undefined || this.#accounts.has(address)) return found
    return this.#miss(async () => void this.#accounts.set(address, await this.#source.account(address)))
  }

  storage(address: Hex, slot: Hex): Hex {
    const key = address + slot
    return (
      this.#slots.get(key) ??
      this.#miss(async () => void this.#slots.set(key, await this.#source.storage(address, slot)))
    )
  }

  code(address: Hex): Uint8Array {
    return (
      this.#codes.get(address) ??
      this.#miss(async () => void this.#codes.set(address, await this.#source.code(address)))
    )
  }

  /** What the last run lacked; asking forgets it. */
  takeMissing(): (() => Promise<void>) | undefined {
    const missing = this.#missing
    this.#missing = undefined
    return missing
  }

  #miss(load: () => Promise<void>): never {
    this.#missing ??= load
    throw new MissingRead()
  }
}

/**
 * Runs synchronous readers on a state that can only be read asynchronously: `work` starts again each time it asks for something not
 * loaded yet. It must do the same each time, and have no effect but its answer. Gives up
 * (done: false) after `maxReads` different reads.
 */
export const repeatUntilRead = async <T>(
  source: AsyncStateReader,
  work: (state: StateReader) => T | Promise<T>,
  maxReads = Number.POSITIVE_INFINITY,
): Promise<{ readonly done: true; readonly value: T } | { readonly done: false }> => {
  const reader = new LoadedReader(source)
  for (let reads = 0; reads <= maxReads; reads++) {
    let load: (() => Promise<void>) | undefined
    try {
      const value = await work(reader)
      load = reader.takeMissing()
      // Work that swallowed a failed read has answered from nothing.
      if (load === undefined) return { done: true, value }
    } catch (error) {
      load = reader.takeMissing()
      if (load === undefined) throw error
    }
    await load()
  }
  return { done: false }
}
