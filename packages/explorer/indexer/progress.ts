import type { Logger } from '@tandem/base/logger.ts'
import { EXPLORER_LIMITS } from '../limits.ts'

interface Step {
  readonly number: number
  readonly head: number
  readonly blocks: number
  readonly transactions: number
}

/** Lines of the log about a backfill: how far, how fast, how long it will take. Silent while the index follows the head. */
export class BackfillProgress {
  readonly #logger: Logger
  readonly #nowMs: () => number
  #since: { ms: number; blocks: number; transactions: number } | undefined

  constructor(logger: Logger, nowMs: () => number) {
    this.#logger = logger
    this.#nowMs = nowMs
  }

  report({ number, head, blocks, transactions }: Step): void {
    const left = head - number
    const nowMs = this.#nowMs()
    if (this.#since === undefined) {
      if (left < EXPLORER_LIMITS.index.behindBlocks) return
      this.#since = { ms: nowMs, blocks: 0, transactions: 0 }
    }
    this.#since.blocks += blocks
    this.#since.transactions += transactions
    if (left === 0) {
      this.#logger.info({ number }, 'the index is at the head')
      this.#since = undefined
      return
    }
    const seconds = (nowMs - this.#since.ms) / 1_000
    if (seconds * 1_000 < EXPLORER_LIMITS.index.progressMs) return
    const blocksPerSecond = this.#since.blocks / seconds
    this.#logger.info(
      {
        number,
        head,
        percent: Math.round((1_000 * number) / head) / 10,
        blocksPerSecond: Math.round(blocksPerSecond),
        transactionsPerSecond: Math.round(this.#since.transactions / seconds),
        secondsLeft: blocksPerSecond > 0 ? Math.round(left / blocksPerSecond) : null,
      },
      'the index is being filled',
    )
    this.#since = { ms: nowMs, blocks: 0, transactions: 0 }
  }
}
