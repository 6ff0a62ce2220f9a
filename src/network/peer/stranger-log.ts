import type { Logger } from '@tandem/base/logger.ts'
import { TokenBucket } from '@tandem/base/token-bucket.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'

/**
 * Log lines about the connections of strangers, at a bounded rate: anyone may open and lose connections, under any number of addresses.
 * Lines beyond the rate are logged at debug, and the next one tells their number.
 */
export class StrangerLog {
  readonly #logger: Logger
  readonly #quota = new TokenBucket(NETWORK_LIMITS.strangerLines, performance.now())
  #suppressed = 0

  constructor(logger: Logger) {
    this.#logger = logger
  }

  log(level: 'info' | 'warn', fields: object, message: string): void {
    if (!this.#quota.take(performance.now())) {
      this.#suppressed++
      this.#logger.debug(fields, message)
      return
    }
    this.#logger[level]({ ...fields, ...(this.#suppressed > 0 && { suppressed: this.#suppressed }) }, message)
    this.#suppressed = 0
  }
}
