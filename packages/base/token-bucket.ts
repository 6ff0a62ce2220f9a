/** Rate limit. */
export interface Quota {
  readonly perSecond: number
  /** Size of the largest burst. */
  readonly burst: number
}

/** Rate limit of one sender. Starts full; each call passes the time. */
export class TokenBucket {
  readonly #quota: Quota
  #tokens: number
  #atMs: number

  constructor(quota: Quota, nowMs: number) {
    this.#quota = quota
    this.#tokens = quota.burst
    this.#atMs = nowMs
  }

  /** Takes tokens; returns false when there are too few. */
  take(nowMs: number, cost = 1): boolean {
    this.#refill(nowMs)
    if (this.#tokens < cost) return false
    this.#tokens -= cost
    return true
  }

  /** Returns true while any token is left. */
  hasTokens(nowMs: number): boolean {
    this.#refill(nowMs)
    return this.#tokens > 0
  }

  /** Returns the milliseconds until a token is there. */
  waitMs(nowMs: number): number {
    this.#refill(nowMs)
    return (Math.max(0, 1 - this.#tokens) * 1_000) / this.#quota.perSecond
  }

  /** Takes tokens even where there are too few; the debt is paid by those that follow. */
  charge(nowMs: number, cost: number): void {
    this.#refill(nowMs)
    this.#tokens -= cost
  }

  /** Returns tokens that were taken needlessly. */
  give(cost = 1): void {
    this.#tokens = Math.min(this.#quota.burst, this.#tokens + cost)
  }

  /** A clock set back adds and removes no tokens. */
  #refill(nowMs: number): void {
    const { perSecond, burst } = this.#quota
    this.#tokens = Math.min(burst, this.#tokens + (Math.max(0, nowMs - this.#atMs) * perSecond) / 1_000)
    this.#atMs = nowMs
  }
}
