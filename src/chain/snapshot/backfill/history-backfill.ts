import { waitUntil } from '@tandem/base/async/delay.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { WorkerClient } from '@tandem/base/worker/worker-client.ts'
import { SNAPSHOT_LIMITS } from '../../../config/limits/sync.ts'
import { isStoreError } from '../../../storage/errors.ts'
import type { BlockStore } from '../../store/block-store.ts'
import { importHistory, type PeerSource } from '../sync/fetch-headers.ts'
import type { HistoryTip } from './history-rows.ts'
import type { HistoryMethods } from './history-worker.ts'

interface HistoryBackfillOptions {
  readonly network: PeerSource
  /** Closed at the end: ended during a write, it would hold the turn of the write latch for ever. */
  readonly thread: Pick<WorkerClient<HistoryMethods>, 'call' | 'close'>
  /** Updated with the first stored block. */
  readonly blocks: Pick<BlockStore, 'earliest'>
  /** First block that is wanted. */
  readonly start: () => number
  readonly clock: Clock
  readonly logger: Logger
}

/** Downloads the blocks before a snapshot with receipts and logs, from the newest down to the first, while the node serves. */
export class HistoryBackfill {
  readonly #options: HistoryBackfillOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: HistoryBackfillOptions) {
    this.#options = options
  }

  start(): void {
    const { logger } = this.#options
    this.#running = this.#run().catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) logger.error({ err: error }, 'history backfill stopped')
    })
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await this.#options.thread.close()
  }

  async #run(): Promise<void> {
    const { network, thread, blocks, start, clock, logger } = this.#options
    const { signal } = this.#stopping
    const pause = (ms: number) => waitUntil(clock, clock.nowMs() + ms, signal)
    let count: number = SNAPSHOT_LIMITS.historyBlocks
    let failures = 0
    let tip: HistoryTip | null = await thread.call('tip')
    while (tip !== null && tip.number > 0 && tip.number >= start() && !signal.aborted) {
      try {
        const step = await importHistory(network, tip, count, (range, at) => thread.call('put', range, at))
        tip = step.tip
        count = step.nextCount
        failures = 0
        blocks.earliest = tip.number === 0 ? 0 : tip.number + 1
        await pause(SNAPSHOT_LIMITS.historyPauseMs)
      } catch (error) {
        if (signal.aborted || !isCoded(error) || isStoreError(error)) throw error
        logger.debug({ err: error, number: tip.number }, 'history blocks not received')
        failures = Math.min(failures + 1, SNAPSHOT_LIMITS.pauses)
        await pause(failures * SNAPSHOT_LIMITS.retryMs)
      }
    }
    if (tip !== null && !signal.aborted) logger.info({}, 'history backfill finished')
  }
}
