import { assert } from '@tandem/base/assert.ts'
import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { storeErrorFromLevel } from './errors.ts'
import type { StoreCounters } from './metrics.ts'
import type { ScratchKeys } from './scan.ts'

/**
 * Chained batch of classic-level, by the calls that abstract-level wraps. A wrapped batch is used once, and its memory
 * outside the JavaScript heap waits for a garbage collection that is unaware of it: hundreds of megabytes after some full
 * blocks. Used directly it is cleared and reused, and a row costs a quarter.
 */
export interface NativeBatch {
  _put(key: Uint8Array, value: Uint8Array): void
  _del(key: Uint8Array): void
  _clear(): void
  _write(options: { readonly sync: boolean }): Promise<void>
}

interface PutOrDel {
  readonly type: 'put' | 'del'
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** Batch of a store in memory. `write` gets the rows and their bytes. */
export class MemoryBatch implements NativeBatch {
  readonly #write: (rows: readonly PutOrDel[], bytes: number) => Promise<void>
  #rows: PutOrDel[] = []
  #bytes = 0

  constructor(write: (rows: readonly PutOrDel[], bytes: number) => Promise<void>) {
    this.#write = write
  }

  _put(key: Uint8Array, value: Uint8Array): void {
    this.#rows.push({ type: 'put', key: key.slice(), value: value.slice() })
    this.#bytes += key.byteLength + value.byteLength
  }

  _del(key: Uint8Array): void {
    this.#rows.push({ type: 'del', key: key.slice(), value: EMPTY_BYTES })
  }

  _clear(): void {
    this.#rows = []
  }

  _write(): Promise<void> {
    return this.#write(this.#rows, this.#bytes)
  }
}

/** Store of a batch. */
interface BatchHome {
  readonly path: string
  /** false: no write waits for the disk. */
  readonly synced: boolean
  readonly counters: StoreCounters
  readonly keys: ScratchKeys
  /** Throws STORE_CLOSED. */
  checkOpen(): void
  /** Runs a write when those before it are over, unless one has failed; keeps the store open until then. */
  write(work: () => Promise<void>): Promise<void>
  /** Returns an empty native batch for reuse. */
  release(native: NativeBatch): void
}

/** Rows written atomically. Keys and values are copied when added. An unwritten batch must be disposed of (`using`); none is used twice. */
export class Batch {
  readonly #home: BatchHome
  #native: NativeBatch | undefined
  #rows = 0

  constructor(native: NativeBatch, home: BatchHome) {
    this.#native = native
    this.#home = home
  }

  get size(): number {
    return this.#rows
  }

  /** Blocks put no empty values: the addon never frees its copy of one, 32 bytes (classic-level 3.0.0). */
  put(bucket: number, key: Uint8Array, value: Uint8Array): this {
    return this.#add(native => native._put(this.#home.keys.of(bucket, key), value))
  }

  del(bucket: number, key: Uint8Array): this {
    return this.#add(native => native._del(this.#home.keys.of(bucket, key)))
  }

  #add(row: (native: NativeBatch) => void): this {
    try {
      row(this.#open())
    } catch (error) {
      throw storeErrorFromLevel(error, this.#home.path, 'STORE_WRITE_FAILED')
    }
    this.#rows++
    return this
  }

  /** Resolves once rows are on disk (fsync); `sync: false` leaves that to the system: the data can be rebuilt. Throws STORE_WRITE_FAILED. */
  async write({ sync }: { readonly sync: boolean } = { sync: true }): Promise<void> {
    const { counters, path, synced } = this.#home
    const startedMs = performance.now()
    this.#home.checkOpen()
    const native = this.#open()
    this.#native = undefined
    try {
      if (this.#rows > 0) await this.#home.write(() => native._write({ sync: sync && synced }))
    } catch (error) {
      counters.writeFailures++
      throw storeErrorFromLevel(error, path, 'STORE_WRITE_FAILED')
    } finally {
      native._clear()
      this.#home.release(native)
    }
    counters.batches++
    counters.batchRows += this.#rows
    counters.batchSeconds += (performance.now() - startedMs) / 1_000
  }

  [Symbol.dispose](): void {
    if (this.#native === undefined) return
    this.#native._clear()
    this.#home.release(this.#native)
    this.#native = undefined
  }

  #open(): NativeBatch {
    assert(this.#native !== undefined, 'a batch is written or disposed of once')
    return this.#native
  }
}
