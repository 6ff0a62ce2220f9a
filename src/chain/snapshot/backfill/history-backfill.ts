import { LIMITS } from '../../../config/limits.ts'
import { pauseUntil } from '../../../util/async/delay.ts'
import type { Clock } from '../../../util/clock.ts'
import { isCoded } from '../../../util/errors.ts'
import type { Logger } from '../../../util/logger.ts'
import type { Thread } from '../../../util/worker/worker-thread.ts'
import type { BlockStore } from '../../store/block-store.ts'
import { type PeerSource, takeHistory } from '../sync/fetch-headers.ts'
import type { HistoryTip } from './history-rows.ts'
import type { HistoryMethods } from './history-worker.ts'

export interface HistoryFillOptions {
  readonly network: PeerSource
  readonly thread: Pick<Thread<HistoryMethods>, 'call'>
  /** Told of the first block that is there. */
  readonly blocks: Pick<BlockStore, 'earliest'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Brings the blocks before a snapshot, with their receipts and logs, from the newest down to the first, while the node serves. */
export class HistoryFill {
  readonly #options: HistoryFillOptions
  #isStopped = false
  #wake = () => {}
  #running: Promise<void> | undefined

  constructor(options: HistoryFillOptions) {
    this.#options = options
  }

  start(): void {
    const { logger } = this.#options
    this.#running = this.#run().catch((error: unknown) => {
      if (!this.#isStopped) logger.error({ err: error }, 'blocks before the snapshot are no longer fetched')
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#wake()
    await this.#running
  }

  async #run(): Promise<void> {
    const { network, thread, blocks, logger } = this.#options
    let count: number = LIMITS.snapshot.historyBlocks
    let failures = 0
    let tip: HistoryTip | null = await thread.call('tip')
    while (tip !== null && tip.number > 0 && !this.#isStopped) {
      try {
        const step = await takeHistory(network, tip, count, (range, at) => thread.call('put', range, at))
        tip = step.tip
        count = step.nextCount
        failures = 0
        blocks.earliest = tip.number === 0 ? 0 : tip.number + 1
        await this.#pause(LIMITS.snapshot.historyPauseMs)
      } catch (error) {
        if (this.#isStopped || !isCoded(error)) throw error
        logger.debug({ err: error, number: tip.number }, 'blocks before the snapshot not received')
        failures = Math.min(failures + 1, LIMITS.snapshot.pauses)
        await this.#pause(failures * LIMITS.snapshot.retryMs)
      }
    }
    if (tip?.number === 0) logger.info({}, 'all blocks before the snapshot are here')
  }

  #pause(ms: number): Promise<void> {
    const { clock } = this.#options
    const pause = pauseUntil(clock, clock.nowMs() + ms)
    this.#wake = pause.end
    return pause.over
  }
}
