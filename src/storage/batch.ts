import type { ClassicLevel } from 'classic-level'
import { fromLevelError } from './errors.ts'
import type { StoreCounters } from './metrics.ts'
import type { ScratchKeys } from './scratch.ts'

type LevelBatch = ReturnType<ClassicLevel<Uint8Array, Uint8Array>['batch']>

/**
 * Rows that reach the disk together or not at all. Keys and values are copied when queued, so a caller may reuse its arrays.
 * A batch that is not written must be discarded.
 */
export class Batch {
  readonly #inner: LevelBatch
  readonly #path: string
  readonly #counters: StoreCounters
  readonly #keys: ScratchKeys

  constructor(rows: LevelBatch, path: string, counters: StoreCounters, keys: ScratchKeys) {
    this.#inner = rows
    this.#path = path
    this.#counters = counters
    this.#keys = keys
  }

  get size(): number {
    return this.#inner.length
  }

  put(bucket: number, key: Uint8Array, value: Uint8Array): this {
    try {
      this.#inner.put(this.#keys.of(bucket, key), value)
    } catch (error) {
      throw fromLevelError(error, this.#path, 'STORE_WRITE_FAILED')
    }
    return this
  }

  del(bucket: number, key: Uint8Array): this {
    try {
      this.#inner.del(this.#keys.of(bucket, key))
    } catch (error) {
      throw fromLevelError(error, this.#path, 'STORE_WRITE_FAILED')
    }
    return this
  }

  /** Resolves when the rows are on disk (fsync); `sync: false` leaves that to the system, for what can be rebuilt. Throws STORE_WRITE_FAILED. */
  async write(options: { readonly sync: boolean } = { sync: true }): Promise<void> {
    const startedMs = performance.now()
    const rows = this.#inner.length
    try {
      await this.#inner.write(options)
    } catch (error) {
      this.#counters.writeFailures++
      throw fromLevelError(error, this.#path, 'STORE_WRITE_FAILED')
    }
    this.#counters.batches++
    this.#counters.batchRows += rows
    this.#counters.batchSeconds += (performance.now() - startedMs) / 1_000
  }

  async discard(): Promise<void> {
    await this.#inner.close()
  }
}
