import { CONSENSUS_LIMITS } from '../../config/limits/consensus.ts'
import type { Logger } from '../../util/logger.ts'

/** Reports heights that are not decided, each minute until they are, and the end of such a stall. */
export class StallMonitor {
  readonly #logger: Logger
  #number = 0
  #openedMs = 0
  /** Time of the last warning about the open height; undefined: there was none. */
  #warnedMs: number | undefined
  /** Last time seen: a clock that steps back takes nothing of a stall away. */
  #lastMs = 0

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** True after a warning about the open height. */
  get isStalled(): boolean {
    return this.#warnedMs !== undefined
  }

  /** A height is opened; the same one again after catching up brought no block. */
  opened(number: number, nowMs: number): void {
    if (number === this.#number) return
    this.#follow(nowMs)
    if (this.#warnedMs !== undefined) {
      const seconds = Math.round((nowMs - this.#openedMs) / 1_000)
      this.#logger.info({ number: this.#number }, `deciding again after ${seconds} s`)
    }
    this.#number = number
    this.#openedMs = nowMs
    this.#warnedMs = undefined
  }

  /** Warns that the open height waits, at most once a minute. */
  waits(fields: object, message: string, nowMs: number): void {
    this.#follow(nowMs)
    if (this.#warnedMs !== undefined && nowMs - this.#warnedMs < CONSENSUS_LIMITS.stallWarningMs) return
    this.#warn(fields, message, nowMs)
  }

  /** Warns at once: a round was given up. */
  roundGivenUp(fields: object, message: string, nowMs: number): void {
    this.#warn(fields, message, nowMs)
  }

  #follow(nowMs: number): void {
    const backMs = Math.max(0, this.#lastMs - nowMs)
    this.#lastMs = nowMs
    this.#openedMs -= backMs
    if (this.#warnedMs !== undefined) this.#warnedMs -= backMs
  }

  #warn(fields: object, message: string, nowMs: number): void {
    this.#follow(nowMs)
    this.#warnedMs = nowMs
    this.#logger.warn({ ...fields, seconds: Math.round((nowMs - this.#openedMs) / 1_000) }, message)
  }
}
