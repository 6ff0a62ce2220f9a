import { open, readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { ifMissing } from '@tandem/base/fs/if-missing.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import type { ClassicLevel } from 'classic-level'
import { memoryShares, STORAGE_LIMITS } from '../config/limits/storage.ts'
import { Batch, MemoryBatch, type NativeBatch } from './batch.ts'
import { BUCKETS, SEGMENT_BUCKETS } from './buckets.ts'
import { storeError, storeErrorFromLevel, writeLockHolder } from './errors.ts'
import { NUMBER_BYTES, readNumber } from './keys.ts'
import { newStoreCounters, type StoreCounters } from './metrics.ts'
import {
  type Bounds,
  boundsFromRange,
  prefixedKey,
  type Range,
  type Scan,
  ScratchKeys,
  type Snapshot,
  scan,
} from './scan.ts'
import { decodeMoved, IDENTITY_ROW, MOVED_ROW, Segments } from './segments.ts'
import { tablesFault } from './table-sizes.ts'
import { WriteLatch } from './write-latch.ts'

type DiskLevel = ClassicLevel<Uint8Array, Uint8Array>
/** What a store uses of abstract-level, in a folder or in memory. */
type Level = Pick<
  DiskLevel,
  'get' | 'getSync' | 'getMany' | 'has' | 'iterator' | 'keys' | 'snapshot' | 'batch' | 'close'
> &
  Partial<Pick<DiskLevel, 'compactRange'>>

export type { Range, Snapshot } from './scan.ts'
export type StoreEntry = readonly [key: Uint8Array, value: Uint8Array]

export interface StoreOptions {
  /** Memory of the database, bytes (config/limits/storage.ts). Several handles of one process share the first one's. */
  readonly memoryBytes?: number
  /** Bytes of rows in memory before they are written to a table file, up to two of these: by default a quarter of the memory. */
  readonly writeBufferBytes?: number
  /** Blocks of a segment, of STORAGE_LIMITS by default; a store keeps the number it began with. */
  readonly segmentBlocks?: number
  /** false: fail with STORE_OPEN_FAILED when there is no store yet. */
  readonly createIfMissing?: boolean
  /** Temporary store, without waiting for disk or threads: in memory until a thread opens it (`share`) or it grows, then in its folder. */
  readonly ephemeral?: boolean
  /** Called once when a write of any thread has failed: nothing more is written until the next start. */
  readonly onWriteFailed?: (error: Error) => void
}

/** Store of a process, as another thread opens it (`Store.attach`). */
export interface StoreHandle {
  readonly path: string
  readonly segmentBlocks: number
  readonly latch: SharedArrayBuffer
}

/**
 * LevelDB store. Threads of a process open their own handle on the same path (the first opener's options apply); another process is
 * refused with STORE_LOCKED. Returned keys are without the bucket's byte. Reads throw STORE_READ_FAILED, STORE_CORRUPT or STORE_CLOSED.
 */
export class Store {
  readonly path: string
  readonly segmentBlocks: number
  readonly counters: StoreCounters = newStoreCounters()
  readonly #options: StoreOptions
  readonly #ephemeral: boolean
  readonly #latch: WriteLatch
  readonly #segments: Segments
  readonly #keys = new ScratchKeys()
  /** The last mark seen: rows of the blocks below are in segments alone. */
  #cleared = 0
  readonly #idle: NativeBatch[] = []
  readonly #writes = new Set<Promise<void>>()
  /** Snapshots of the rows in memory outlive the move. */
  readonly #ofMemory = new WeakMap<Snapshot, Level>()
  #level: Level
  /** undefined: on disk. */
  #memory: { level: Level; bytes: number; isMoving: boolean } | undefined
  #closed = false

  private constructor(path: string, level: Level, options: StoreOptions, latch?: SharedArrayBuffer) {
    const { ephemeral = false, onWriteFailed, segmentBlocks = STORAGE_LIMITS.segmentBlocks } = options
    this.path = path
    this.segmentBlocks = segmentBlocks
    this.#options = options
    this.#level = level
    this.#ephemeral = ephemeral
    this.#segments = new Segments(this.segmentFolder, segmentBlocks, latch !== undefined)
    this.#memory = ephemeral ? { level, bytes: 0, isMoving: false } : undefined
    this.#latch = new WriteLatch({
      ...(latch && { memory: latch }),
      isElsewhere: ephemeral,
      ...(onWriteFailed && {
        onFailed: reason => onWriteFailed(storeError({ code: 'STORE_WRITE_FAILED', path, reason })),
      }),
    })
  }

  /** Throws STORE_LOCKED, STORE_CORRUPT or STORE_OPEN_FAILED. */
  static async open(path: string, options: StoreOptions = {}): Promise<Store> {
    const location = resolve(path)
    return new Store(location, options.ephemeral ? await openMemory() : await openDisk(location, options), options)
  }

  /** Opens the store of another thread, when it is on disk. Throws as `open`. */
  static async attach({ path, latch, segmentBlocks }: StoreHandle): Promise<Store> {
    await WriteLatch.isHere(latch)
    const options = { createIfMissing: false, segmentBlocks }
    return new Store(path, await openDisk(path, options), options, latch)
  }

  /** Folder of the segments, beside the tables. */
  get segmentFolder(): string {
    return join(this.path, 'segments')
  }

  /** True for a temporary store (`StoreOptions.ephemeral`). */
  get isEphemeral(): boolean {
    return this.#ephemeral
  }

  /** True while a temporary store has no folder yet. */
  get isInMemory(): boolean {
    return this.#memory !== undefined
  }

  /** Returns the handle for another thread; a store in memory moves to its folder for it. */
  share(): StoreHandle {
    this.#move()
    return { path: this.path, segmentBlocks: this.segmentBlocks, latch: this.#latch.memory }
  }

  /** Called when a thread with a handle that writes has ended by itself. */
  writerEnded(): void {
    this.#latch.abandon()
  }

  /** Takes about 2 us when the row is in memory: for cache misses, not for loops. */
  getSync(bucket: number, key: Uint8Array, snapshot?: Snapshot): Uint8Array | undefined {
    this.counters.reads++
    try {
      const prefixed = this.#keys.of(bucket, key)
      if (snapshot === undefined) return this.#own(this.#level.getSync(prefixed))
      return this.#own(this.#levelOf(snapshot).getSync(prefixed, { snapshot }))
    } catch (error) {
      throw storeErrorFromLevel(error, this.path, 'STORE_READ_FAILED')
    }
  }

  /** Reads a row, also of segments, which no other read does. */
  async get(bucket: number, key: Uint8Array, snapshot?: Snapshot): Promise<Uint8Array | undefined> {
    if (this.#ephemeral) return this.getSync(bucket, key, snapshot)
    this.counters.reads++
    const number =
      SEGMENT_BUCKETS.includes(bucket) && key.byteLength >= NUMBER_BYTES ? readNumber(key) : Number.POSITIVE_INFINITY
    if (number >= this.#cleared) {
      const row = await this.#readingLater(() => this.#level.get(prefixedKey(bucket, key), { snapshot }))
      if (row !== undefined || !Number.isFinite(number)) return row
    }
    // Not of the snapshot: moved rows are still the same, and dropped ones are gone.
    const { moved, cleared, dropped } = decodeMoved(this.getSync(BUCKETS.meta, MOVED_ROW))
    this.#cleared = cleared
    // Genesis is back in the tables.
    if (number < dropped) return this.getSync(bucket, key)
    if (number >= moved) return undefined
    try {
      return await this.#segments.row(bucket, key, () => this.getSync(BUCKETS.meta, IDENTITY_ROW))
    } catch (error) {
      // Its file is removed once it is dropped.
      if (number >= decodeMoved(this.getSync(BUCKETS.meta, MOVED_ROW)).dropped) throw error
      return this.getSync(bucket, key)
    }
  }

  /** Returns values in the order of `keys`. The caller bounds their number. */
  async getMany(bucket: number, keys: readonly Uint8Array[], snapshot?: Snapshot): Promise<(Uint8Array | undefined)[]> {
    if (this.#ephemeral) return keys.map(key => this.getSync(bucket, key, snapshot))
    this.counters.reads += keys.length
    const prefixed = keys.map(key => prefixedKey(bucket, key))
    return this.#readingLater(() => this.#level.getMany(prefixed, { snapshot }))
  }

  async has(bucket: number, key: Uint8Array, snapshot?: Snapshot): Promise<boolean> {
    this.counters.reads++
    return this.#readingLater(() => this.#levelOf(snapshot).has(prefixedKey(bucket, key), { snapshot }))
  }

  /** Yields entries in key order, up to `size` at a time and all from one snapshot: for long scans. */
  async *chunks(
    bucket: number,
    range: Range = {},
    size: number = STORAGE_LIMITS.scanRows,
  ): AsyncGenerator<StoreEntry[]> {
    const open = (options: Bounds) => this.#levelOf(options.snapshot).iterator(options)
    for await (const rows of this.#scan(bucket, range, { open, keyOf: ([key]) => key, size })) {
      yield rows.map(([key, value]): StoreEntry => [this.#own(key.subarray(1)), this.#own(value)])
    }
  }

  async *entries(bucket: number, range: Range = {}): AsyncGenerator<StoreEntry> {
    for await (const rows of this.chunks(bucket, range)) yield* rows
  }

  async *keys(bucket: number, range: Range = {}): AsyncGenerator<Uint8Array> {
    const open = (options: Bounds) => this.#levelOf(options.snapshot).keys(options)
    for await (const keys of this.#scan(bucket, range, { open, keyOf: key => key, size: STORAGE_LIMITS.scanRows })) {
      for (const key of keys) yield this.#own(key.subarray(1))
    }
  }

  /** Returns the first entry of a range (the last with `reverse`). */
  async first(bucket: number, range: Range = {}): Promise<StoreEntry | undefined> {
    this.counters.reads++
    const bounds = { ...boundsFromRange(bucket, range), limit: 1 }
    await using iterator = this.#reading(() => this.#levelOf(range.snapshot).iterator(bounds))
    const row = await this.#readingLater(() => iterator.next())
    return row === undefined ? undefined : [this.#own(row[0].subarray(1)), this.#own(row[1])]
  }

  snapshot(): Snapshot {
    const snapshot = this.#reading(() => this.#level.snapshot())
    if (this.#memory !== undefined) this.#ofMemory.set(snapshot, this.#level)
    return snapshot
  }

  batch(): Batch {
    this.#checkOpen()
    const native = this.#memory === undefined ? this.#nativeBatch() : this.#memoryBatch()
    return new Batch(native, {
      path: this.path,
      synced: !this.#ephemeral,
      counters: this.counters,
      keys: this.#keys,
      checkOpen: () => this.#checkOpen(),
      write: work => this.#track(this.#latch.write(work)),
      release: batch => {
        const isKept = !(batch instanceof MemoryBatch) && this.#idle.length < STORAGE_LIMITS.idleBatches
        if (isKept) this.#idle.push(batch)
      },
    })
  }

  #nativeBatch(): NativeBatch {
    return this.#idle.pop() ?? this.#reading(() => this.#level.batch() as unknown as NativeBatch)
  }

  /** A batch may be written after the move. */
  #memoryBatch(): NativeBatch {
    return new MemoryBatch(async (rows, bytes) => {
      await this.#level.batch([...rows])
      if (this.#memory === undefined) return
      this.#memory.bytes += bytes
      if (this.#memory.bytes > STORAGE_LIMITS.memoryBytes) this.#move()
    })
  }

  /** Begins to move the rows from memory to the folder. Later writes wait for it; its failure counts as that of a write. */
  #move(): void {
    const memory = this.#memory
    if (memory === undefined || memory.isMoving || this.#closed) return
    memory.isMoving = true
    const work = async () => {
      const disk = await openDisk(this.path, this.#options)
      for await (const rows of scan(EVERY_ROW, {
        open: bounds => memory.level.iterator(bounds),
        keyOf: ([key]) => key,
        size: STORAGE_LIMITS.scanRows,
      }))
        await disk.batch(rows.map(([key, value]) => ({ type: 'put', key, value })))
      this.#level = disk
      this.#memory = undefined
      this.#latch.arrived()
    }
    // A failure is reported by the latch.
    this.#track(this.#latch.write(work)).catch(() => undefined)
  }

  /** Rows in memory must not change with what a reader does to them. */
  #own<T extends Uint8Array | undefined>(row: T): T {
    return this.#memory === undefined ? row : (row?.slice() as T)
  }

  #levelOf(snapshot: Snapshot | undefined): Level {
    return (snapshot && this.#ofMemory.get(snapshot)) ?? this.#level
  }

  /** Deletes a range in batches of bounded size: not atomic, for tables that can be rebuilt. */
  async clear(bucket: number, range: Range = {}): Promise<void> {
    let batch = this.batch()
    try {
      for await (const key of this.keys(bucket, range)) {
        batch.del(bucket, key)
        if (batch.size < STORAGE_LIMITS.scanRows) continue
        await batch.write({ sync: false })
        batch = this.batch()
      }
      await batch.write()
    } finally {
      batch[Symbol.dispose]()
    }
  }

  /** Frees the disk of rows that were deleted in a range from `gte` to `lt`: the database would do so when it next merges their tables. */
  async compact(bucket: number, { gte, lt }: Required<Pick<Range, 'gte' | 'lt'>>): Promise<void> {
    await this.#level.compactRange?.(prefixedKey(bucket, gte), prefixedKey(bucket, lt))
  }

  /** Resolves when every row so far is on disk: LevelDB syncs only its current log, and rows of the previous may wait for their table. */
  async flush(): Promise<void> {
    this.#checkOpen()
    if (this.#ephemeral) return
    try {
      await this.#track(this.#latch.sync(() => syncLogs(this.path)))
    } catch (error) {
      throw storeErrorFromLevel(error, this.path, 'STORE_WRITE_FAILED')
    }
  }

  /** True without rows in any bucket. */
  async isEmpty(): Promise<boolean> {
    await using keys = this.#reading(() => this.#level.keys({ limit: 1 }))
    return (await this.#readingLater(() => keys.next())) === undefined
  }

  /** Waits for operations under way; later ones throw STORE_CLOSED. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#writes)
    this.#latch.close()
    await this.#level.close()
  }

  #checkOpen(): void {
    if (this.#closed) throw storeError({ code: 'STORE_CLOSED', path: this.path })
  }

  /** Writes bypass abstract-level, so the store must not close during one. */
  async #track(write: Promise<void>): Promise<void> {
    this.#writes.add(write)
    try {
      await write
    } finally {
      this.#writes.delete(write)
    }
  }

  async *#scan<Row extends Uint8Array | StoreEntry>(
    bucket: number,
    range: Range,
    options: Scan<Row>,
  ): AsyncGenerator<Row[]> {
    const own = range.snapshot === undefined ? this.snapshot() : undefined
    try {
      yield* scan(boundsFromRange(bucket, own === undefined ? range : { ...range, snapshot: own }), options)
    } catch (error) {
      throw storeErrorFromLevel(error, this.path, 'STORE_READ_FAILED')
    } finally {
      await own?.close()
    }
  }

  #reading<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      throw storeErrorFromLevel(error, this.path, 'STORE_READ_FAILED')
    }
  }

  async #readingLater<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read()
    } catch (error) {
      throw storeErrorFromLevel(error, this.path, 'STORE_READ_FAILED')
    }
  }
}

const EVERY_ROW: Bounds = { reverse: false, limit: -1 }

const VIEWS = { keyEncoding: 'view', valueEncoding: 'view' } as const

/** Loaded only where it is used, as the addon of the other. */
const openMemory = async (): Promise<Level> => {
  const { MemoryLevel } = await import('memory-level')
  const level = new MemoryLevel<Uint8Array, Uint8Array>({ ...VIEWS, storeEncoding: 'view' })
  await level.open()
  return level as unknown as Level
}

const openDisk = async (location: string, options: StoreOptions): Promise<DiskLevel> => {
  // Threads open a database that the main thread has checked.
  const reason = isMainThread || options.createIfMissing !== false ? await tablesFault(location) : undefined
  if (reason !== undefined) throw storeError({ code: 'STORE_CORRUPT', path: location, reason })
  const { ClassicLevel } = createRequire(import.meta.url)('classic-level') as typeof import('classic-level')
  const level = new ClassicLevel<Uint8Array, Uint8Array>(location, {
    ...VIEWS,
    multithreading: true,
    ...levelMemory(options),
    createIfMissing: options.createIfMissing ?? true,
  })
  try {
    // LevelDB syncs what is in its folder, not the name of the folder itself.
    if (options.createIfMissing !== false) makeFolder(location)
    await level.open()
    writeLockHolder(location)
    return level
  } catch (error) {
    await level.close()
    throw storeErrorFromLevel(error, location, 'STORE_OPEN_FAILED')
  }
}

/** Divides the memory of a database: a quarter for blocks, a half for two write buffers, and tables whose indexes take up to as much again. */
const levelMemory = ({ memoryBytes = memoryShares().database, writeBufferBytes }: StoreOptions) => {
  const { openFiles, table, tableBytes } = STORAGE_LIMITS
  const quarter = Math.floor(memoryBytes / 4)
  return {
    cacheSize: quarter,
    writeBufferSize: writeBufferBytes ?? Math.min(quarter, STORAGE_LIMITS.writeBufferBytes),
    ...table,
    maxOpenFiles: Math.max(openFiles.least, Math.min(openFiles.most, Math.floor(memoryBytes / tableBytes))),
  }
}

const syncLogs = async (path: string): Promise<void> => {
  const logs = (await readdir(path)).filter(name => name.endsWith('.log'))
  await Promise.all(logs.map(name => syncFile(join(path, name))))
}

/** The rows of a deleted log are in a table, which was synced. */
const syncFile = async (path: string): Promise<void> => {
  await using file = await open(path, 'r').catch(ifMissing(undefined))
  await file?.datasync()
}
