/** How often something may happen. */
export interface Quota {
  readonly perSecond: number
  /** How often at once. */
  readonly burst: number
}

/** A quota of one sender. Starts full; time comes in with each question. */
export class TokenBucket {
  readonly #quota: Quota
  #tokens: number
  #atMs: number

  constructor(quota: Quota, nowMs: number) {
    this.#quota = quota
    this.#tokens = quota.burst
    this.#atMs = nowMs
  }

  /** Takes tokens; false: there are too few. A clock set back gives nothing and takes nothing. */
  take(nowMs: number, cost = 1): boolean {
    const { perSecond, burst } = this.#quota
    this.#tokens = Math.min(burst, this.#tokens + (Math.max(0, nowMs - this.#atMs) * perSecond) / 1_000)
    this.#atMs = nowMs
    if (this.#tokens < cost) return false
    this.#tokens -= cost
    return true
  }

  /** Gives back what was taken: it was not due. */
  give(cost = 1): void {
    this.#tokens = Math.min(this.#quota.burst, this.#tokens + cost)
  }
}
