import { RateLimiter } from '@tandem/base/rate-limiter.ts'
import { TokenBucket } from '@tandem/base/token-bucket.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import { refuseVerification } from '../verification-error.ts'

interface StoredLimits {
  readonly dayBytes: number
  readonly clientDayBytes: number
  readonly clients: number
}

const DAY_SECONDS = 86_400
const quotaOf = (bytes: number) => ({ perSecond: bytes / DAY_SECONDS, burst: bytes })

/** Source code that is stored for ever, in bytes a day: of all clients and of each. So the disk cannot be filled in hours. */
export class SourceAllowance {
  readonly #nowMs: () => number
  readonly #all: TokenBucket
  readonly #clients: RateLimiter

  constructor(nowMs: () => number, limits: StoredLimits = EXPLORER_LIMITS.verification.stored) {
    this.#nowMs = nowMs
    this.#all = new TokenBucket(quotaOf(limits.dayBytes), nowMs())
    this.#clients = new RateLimiter(quotaOf(limits.clientDayBytes), limits.clients)
  }

  /** Throws QUEUE_FULL when the client, or all clients, have stored their share. */
  check(client: string): void {
    const nowMs = this.#nowMs()
    if (!this.#clients.allows(client, nowMs))
      throw refuseVerification(
        'QUEUE_FULL',
        'you have verified as much source code as a client may in a day; submit it tomorrow',
      )
    if (!this.#all.hasTokens(nowMs))
      throw refuseVerification(
        'QUEUE_FULL',
        'this explorer has stored as much source code as it takes in a day; submit yours tomorrow',
      )
  }

  stored(client: string, bytes: number): void {
    const nowMs = this.#nowMs()
    this.#clients.charge(client, nowMs, bytes)
    this.#all.charge(nowMs, bytes)
  }
}
