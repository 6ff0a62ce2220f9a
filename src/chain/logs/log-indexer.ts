import type { Logger } from '@tandem/base/logger.ts'
import { CHAIN_LIMITS } from '../../config/limits/chain.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import type { Store } from '../../storage/store.ts'
import { type LogRange, postingsOf, putLogIndex, readLogIndex, readPostingsKey } from '../store/log-index.ts'
import { readHead } from '../store/put-block.ts'
import type { LogJob } from './log-jobs.ts'

interface LogIndexerOptions {
  readonly store: Store
  /** Returns the first stored block of those up to the head (store/earliest-block.ts). */
  readonly earliest: () => number
  /** Carries out steps in another thread (log-jobs.ts), until `stop`. */
  readonly run: (job: LogJob) => Promise<number>
  readonly stop: () => void
  /** Runs work while no block is committed or reverted. */
  readonly exclusively: (work: () => Promise<void>) => Promise<void>
  readonly logger: Logger
  /** CHAIN_LIMITS by default. */
  readonly sizes?: LogIndexSizes
}

/** Numbers of blocks, places and ranges of the index's steps. */
type LogIndexSizes = {
  readonly [Name in 'logIndexWait' | 'logIndexBlocks' | 'logIndexPlaces' | 'logIndexMerge']: number
}

type Ranges = readonly [LogRange, ...LogRange[]]

/**
 * Keeps the log index: adds blocks in steps, newest first, and merges small adjacent ranges, so that their number grows with the logarithm of
 * the chain. A step writes rows of a new id; then one row makes them count, once they are on disk, and the rows of former ids are deleted.
 * A stop at any instant leaves rows of ids without a range, which the next step deletes.
 */
export class LogIndexer {
  readonly #options: LogIndexerOptions
  readonly #sizes: LogIndexSizes
  #nextId: number | undefined
  #running: Promise<void> | undefined
  /** Head at the last look for something to do. */
  #seen = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(options: LogIndexerOptions) {
    this.#options = options
    this.#sizes = options.sizes ?? CHAIN_LIMITS
  }

  /** Called after each block: begins when there is something to do. Few blocks fit into memory, and are searched without an index. */
  poke(): void {
    const { store } = this.#options
    if (store.isInMemory) return
    const head = readHead(store) ?? 0
    if (this.#running !== undefined || this.#isClosed || Math.abs(head - this.#seen) < LOOK_BLOCKS) return
    this.#seen = head
    if (this.#next() === undefined) return
    this.#running = this.#work().finally(() => {
      this.#running = undefined
    })
  }

  /** Resolves when the index has no step left. */
  async settled(): Promise<void> {
    this.#seen = Number.NEGATIVE_INFINITY
    this.poke()
    await this.#running
  }

  /** Begins nothing more; resolves when the step under way has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#options.stop()
    await this.#running
  }

  async #work(): Promise<void> {
    try {
      this.#nextId ??= await this.#clean()
      for (let next = this.#next(); next !== undefined && !this.#isClosed; next = this.#next())
        await this.#step(next.ranges, next.reverts)
    } catch (error) {
      // The next look tries again, and drops the rows of the step that failed.
      this.#nextId = undefined
      if (!this.#isClosed) this.#options.logger.warn({ err: error }, 'log index step failed')
    }
  }

  /** Deletes the rows of ids without a range; returns a new id. */
  async #clean(): Promise<number> {
    const { store, run } = this.#options
    const known = new Set(readLogIndex(store).ranges.map(({ id }) => id))
    let next = 1
    for (;;) {
      const row = await store.first(BUCKETS.logPostings, { gte: postingsOf(next) })
      if (row === undefined) return Math.max(next, ...[...known].map(id => id + 1))
      const { id } = readPostingsKey(row[0])
      if (!known.has(id)) await run({ kind: 'drop', id })
      next = id + 1
    }
  }

  /** Returns the next step, and the number of reverts. The head is the stored one, read after them: a revert meanwhile voids the step. */
  #next(): { readonly ranges: Ranges; readonly reverts: number } | undefined {
    const { store, earliest } = this.#options
    const { reverts, ranges } = readLogIndex(store)
    const next = this.#nextOf(ranges, earliest(), readHead(store) ?? 0)
    return next && { ranges: next, reverts }
  }

  /** Returns the ranges to merge, one whose blocks are dropped, or one without rows: blocks to index. */
  #nextOf(ranges: readonly LogRange[], earliest: number, head: number): Ranges | undefined {
    const { logIndexWait } = this.#sizes
    const [oldest] = ranges
    if (oldest !== undefined && oldest.to < earliest) return [oldest]
    let to = head
    for (const range of ranges.toReversed()) {
      const isWaiting = to - range.to >= (to === head ? logIndexWait : 1)
      if (isWaiting) return [this.#unindexed(range.to + 1, to)]
      to = range.from - 1
    }
    const first = Math.max(1, earliest)
    // A history that is being fetched grows downwards.
    if (to - first + 1 >= (first === 1 && to < head ? 1 : logIndexWait)) return [this.#unindexed(first, to)]
    return mergeable(ranges, this.#sizes)
  }

  #unindexed(from: number, to: number): LogRange {
    return { id: 0, from: Math.max(from, to - this.#sizes.logIndexBlocks + 1), to }
  }

  /** Returns the range in place of others; none in place of one whose blocks are dropped. */
  async #make(ranges: Ranges): Promise<readonly LogRange[]> {
    const [first] = ranges
    if (first.id > 0 && ranges.length === 1) return []
    const id = this.#nextId as number
    this.#nextId = id + 1
    const job: LogJob =
      first.id === 0
        ? { ...first, kind: 'index', id, places: this.#sizes.logIndexPlaces }
        : { kind: 'merge', id, ranges }
    return [{ id, from: first.from, to: await this.#options.run(job) }]
  }

  async #step(ranges: Ranges, reverts: number): Promise<void> {
    const { store, run, exclusively } = this.#options
    const made = await this.#make(ranges)
    await store.flush()
    let isMade = false
    await exclusively(async () => {
      const index = readLogIndex(store)
      if (index.reverts !== reverts) return
      const old = new Set(ranges.map(range => range.id))
      const left = index.ranges.filter(range => !old.has(range.id))
      const batch = store.batch()
      putLogIndex(batch, { reverts, ranges: [...left, ...made].toSorted((a, b) => a.from - b.from) })
      await batch.write({ sync: false })
      isMade = true
    })
    // Until it is on disk, the former row may come back after a power failure.
    await store.flush()
    for (const { id: over } of isMade ? ranges : made) if (over > 0) await run({ kind: 'drop', id: over })
  }
}

/** Blocks between two looks for something to do, also after a failure. */
const LOOK_BLOCKS = 16

/** Largest level that is merged: a range of it has fewer than eight million blocks. */
const TOP_LEVEL = 3

/** Level of a range: how often `logIndexMerge` of the smallest make one of its size. */
const levelOf = ({ from, to }: LogRange, { logIndexWait, logIndexMerge }: LogIndexSizes): number =>
  Math.max(0, Math.floor(Math.log((to - from + 1) / logIndexWait) / Math.log(logIndexMerge)))

/** Returns adjacent ranges of the lowest level that has enough in a row. */
const mergeable = (ranges: readonly LogRange[], sizes: LogIndexSizes): Ranges | undefined => {
  for (let level = 0; level <= TOP_LEVEL; level++) {
    let run: LogRange[] = []
    for (const range of ranges) {
      const isNext = run.length === 0 || run.at(-1)?.to === range.from - 1
      if (levelOf(range, sizes) > level) run = []
      else run = isNext ? [...run, range] : [range]
      if (run.length === sizes.logIndexMerge) return run as [LogRange, ...LogRange[]]
    }
  }
  return undefined
}
