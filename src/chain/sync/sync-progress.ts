import type { Logger } from '@tandem/base/logger.ts'
import { SYNC_LIMITS } from '../../config/limits/sync.ts'
import type { SyncStatus } from '../store/types.ts'

/** Progress of a sync run: for eth_syncing, and for a regular log line. */
export class SyncProgress {
  readonly #start: number
  readonly #startedMs: number
  readonly #logger: Logger
  #current: number
  #target: number
  #toldMs: number

  constructor(start: number, target: number, nowMs: number, logger: Logger) {
    this.#start = start
    this.#current = start
    this.#target = target
    this.#startedMs = nowMs
    this.#toldMs = nowMs
    this.#logger = logger
  }

  /** false: too close to the target to report. */
  get status(): SyncStatus | false {
    if (this.#target - this.#start <= SYNC_LIMITS.nearBlocks || this.#current >= this.#target) return false
    return { startingBlock: this.#start, currentBlock: this.#current, highestBlock: this.#target }
  }

  aim(target: number): void {
    this.#target = Math.max(this.#current, target)
  }

  /** Handles an imported block. */
  moved(number: number, nowMs: number): void {
    this.#current = number
    this.#target = Math.max(this.#target, number)
    if (nowMs - this.#toldMs < SYNC_LIMITS.progressMs) return
    this.#toldMs = nowMs
    const perSecond = this.#perSecond(nowMs)
    const secondsLeft = Math.ceil((this.#target - number) / perSecond)
    this.#logger.info({ number, target: this.#target, perSecond: rounded(perSecond), secondsLeft }, 'catching up')
  }

  /** A run of a few blocks is not logged: a follower has one every second. */
  ended(nowMs: number): void {
    const blocks = this.#current - this.#start
    if (blocks <= SYNC_LIMITS.nearBlocks) return
    const perSecond = rounded(this.#perSecond(nowMs))
    this.#logger.info({ number: this.#current, target: this.#target, blocks, perSecond }, 'caught up')
  }

  #perSecond(nowMs: number): number {
    return ((this.#current - this.#start) * 1_000) / Math.max(1, nowMs - this.#startedMs)
  }
}

const rounded = (value: number): number => Math.round(value * 10) / 10
