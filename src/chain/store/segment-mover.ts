import type { Logger } from '@tandem/base/logger.ts'
import { STORAGE_LIMITS } from '../../config/limits/storage.ts'
import { clearMoved, moveSegment, readMoved } from '../../storage/move-segment.ts'
import type { Store } from '../../storage/store.ts'

interface SegmentMoverOptions {
  readonly store: Store
  /** First stored block of those up to the head (store/earliest-block.ts), and the head. */
  readonly bounds: () => { readonly earliest: number; readonly head: number }
  readonly logger: Logger
}

/**
 * Moves old blocks to segments while the node runs, one segment after the other (docs/design/storage.md#segments). A chain that began with a
 * snapshot waits for its history.
 */
export class SegmentMover {
  readonly #options: SegmentMoverOptions
  #running: Promise<void> | undefined
  /** Head from which on there may be something to do. */
  #next = 0
  #isClosed = false

  constructor(options: SegmentMoverOptions) {
    this.#options = options
  }

  /** Called after each block: begins when there is something to do. */
  poke(): void {
    const { earliest, head } = this.#options.bounds()
    if (this.#running !== undefined || this.#isClosed || earliest > 0 || head < this.#next) return
    this.#running = this.#work().finally(() => {
      this.#running = undefined
    })
  }

  /** Resolves when no segment is left to move. */
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
    const { store, bounds, logger } = this.#options
    const { segmentBlocks, recentBlocks } = STORAGE_LIMITS
    try {
      await clearMoved(store)
      for (let end = 0; !this.#isClosed; ) {
        end = readMoved(store).moved + segmentBlocks
        this.#next = end + recentBlocks
        if (bounds().head < this.#next) return
        await moveSegment(store, () => this.#isClosed)
        logger.debug({ blocks: end }, 'old blocks moved to a segment')
      }
    } catch (error) {
      // The rows are where they were. A failed write of the database ends the node by itself.
      this.#next = bounds().head + RETRY_BLOCKS
      if (!this.#isClosed) logger.warn({ err: error }, 'old blocks were not moved')
    }
  }
}

/** Blocks until the next attempt after a failed one. */
const RETRY_BLOCKS = 256
