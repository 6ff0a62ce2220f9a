import { rm } from 'node:fs/promises'
import type { Logger } from '@tandem/base/logger.ts'
import { STORAGE_LIMITS } from '../../config/limits/storage.ts'
import { BUCKETS, SEGMENT_BUCKETS } from '../../storage/buckets.ts'
import { numberKey, readNumber } from '../../storage/keys.ts'
import { clearMoved, freeDeleted, moveSegment, putMoved, readMoved } from '../../storage/move-segment.ts'
import { segmentPath } from '../../storage/segments.ts'
import type { Store } from '../../storage/store.ts'
import type { BlockStore } from './block-store.ts'
import { putEarliestBlock } from './earliest-block.ts'
import { removeBlockRows } from './put-block.ts'

interface SegmentMoverOptions {
  readonly store: Store
  /** Updated when blocks are dropped. */
  readonly blocks: Pick<BlockStore, 'earliest'>
  readonly head: () => number
  /** Blocks below the head that stay; undefined: all. */
  readonly history?: number | undefined
  /** Blocks below the head that stay in tables, of STORAGE_LIMITS by default. */
  readonly recentBlocks?: number | undefined
  readonly logger: Logger
}

/** Moves old blocks to segments (docs/design/storage.md#segments), drops whole ones beyond the history, none above one being fetched. */
export class SegmentMover {
  readonly #options: SegmentMoverOptions
  #running: Promise<void> | undefined
  /** Head from which on there may be something to do. */
  #next = 0
  #isClosed = false
  #isDropPending: boolean

  constructor(options: SegmentMoverOptions) {
    this.#options = options
    this.#isDropPending = isDropPending(options.store, options.blocks)
  }

  /** Called after each block: begins when there is something to do. */
  poke(): void {
    if (this.#running !== undefined || this.#isClosed || this.#options.head() < this.#next) return
    this.#next = this.#options.head() + LOOK_BLOCKS
    this.#running = this.#work().finally(() => {
      this.#running = undefined
    })
  }

  /** Resolves when the work that is due has ended. */
  async settled(): Promise<void> {
    this.poke()
    await this.#running
  }

  /** Begins nothing more; resolves when the work under way has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#running
  }

  async #work(): Promise<void> {
    const { store, blocks, head, recentBlocks = STORAGE_LIMITS.recentBlocks, logger } = this.#options
    const isOver = () => this.#isClosed
    try {
      await clearMoved(store)
      await this.#drop(isOver)
      for (;;) {
        const { moved } = readMoved(store)
        const end = moved + store.segmentBlocks
        if (this.#isClosed || blocks.earliest > moved || head() < end + recentBlocks) return
        await moveSegment(store, isOver)
        logger.debug({ blocks: end }, 'old blocks moved to a segment')
      }
    } catch (error) {
      // The rows are where they were. A failed write of the database ends the node by itself.
      if (!this.#isClosed) logger.warn({ err: error }, 'old blocks were not moved')
    }
  }

  /** Tells of the new start of the history first; peers and readers know it when the blocks are deleted, at the next look. */
  async #drop(isOver: () => boolean): Promise<void> {
    const { store, blocks, head, history, logger } = this.#options
    const start = historyStart(store, head(), history)
    if (!this.#isDropPending && (history === undefined || blocks.earliest > start)) return
    await dropBlocks(store, blocks.earliest, isOver)
    this.#isDropPending = false
    if (blocks.earliest >= start) return
    const batch = store.batch()
    putEarliestBlock(batch, start)
    await batch.write()
    blocks.earliest = start
    logger.info({ earliest: start }, 'old blocks are dropped')
  }
}

/** True when blocks below the start of the history are still there: a stop came between the news of their drop and its end. */
export const isDropPending = (store: Store, { earliest }: Pick<BlockStore, 'earliest'>): boolean =>
  earliest > 1 && store.getSync(BUCKETS.header, numberKey(earliest - 1)) !== undefined

/** Blocks between two looks for something to do, also after a failure. */
const LOOK_BLOCKS = 64

/** Returns the first block of a history of so many blocks below the head, and of the rest of their segment; 0: all. */
export const historyStart = ({ segmentBlocks }: Store, head: number, history: number | undefined): number =>
  history === undefined ? 0 : Math.max(0, Math.floor((head - history) / segmentBlocks) * segmentBlocks)

/** Deletes blocks below `end` but genesis, by segments: rows, then file, named as dropped before. The next call makes up for a stop. */
const dropBlocks = async (store: Store, end: number, isOver: () => boolean): Promise<void> => {
  for (;;) {
    const { moved, dropped } = readMoved(store)
    await rm(segmentPath(store.segmentFolder, dropped - store.segmentBlocks), { force: true })
    const next = dropped + store.segmentBlocks
    if (next > end) return
    const range = { gte: numberKey(Math.max(1, dropped)), lt: numberKey(next) }
    for await (const key of store.keys(BUCKETS.header, range)) {
      if (isOver()) throw new Error('the store closes')
      const batch = store.batch()
      await removeBlockRows(batch, store, readNumber(key))
      await batch.write({ sync: false })
    }
    await store.flush()
    await freeDeleted(store, [BUCKETS.header, ...SEGMENT_BUCKETS], dropped, next)
    const most = Math.max(moved, next)
    const batch = putMoved(store.batch(), { moved: most, cleared: most, dropped: next })
    for (const bucket of SEGMENT_BUCKETS) {
      const genesis = await store.get(bucket, numberKey(0))
      if (genesis !== undefined) batch.put(bucket, numberKey(0), genesis)
    }
    await batch.write()
  }
}
