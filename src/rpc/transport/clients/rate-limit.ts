export interface RateLimit {
  /** Calls per second and address; each call of a batch counts. */
  readonly perSecond: number
  /** Calls allowed in a burst. */
  readonly burst: number
}

const ADDRESSES = 100_000

/**
 * Token bucket per client address. A batch is admitted while any token is left and may leave a debt, so its size need
 * not be known before it is parsed; a client in debt waits.
 */
export class RateLimiter {
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>()
  readonly #limit: RateLimit
  readonly #nowMs: () => number

  constructor(limit: RateLimit, nowMs: () => number = () => performance.now()) {
    this.#limit = limit
    this.#nowMs = nowMs
  }

  /** Returns true when the address may call now. */
  allows(address: string): boolean {
    return this.#bucket(address).tokens > 0
  }

  charge(address: string, calls: number): void {
    this.#bucket(address).tokens -= calls
  }

  #bucket(address: string): { tokens: number; atMs: number } {
    const { perSecond, burst } = this.#limit
    const now = this.#nowMs()
    let bucket = this.#buckets.get(address)
    if (bucket === undefined) {
      if (this.#buckets.size >= ADDRESSES) this.#forgetOldest()
      bucket = { tokens: burst, atMs: now }
      this.#buckets.set(address, bucket)
      return bucket
    }
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.atMs) * perSecond) / 1_000)
    bucket.atMs = now
    return bucket
  }

  /** Bounds the memory: the oldest address is dropped and starts with a full bucket again. */
  #forgetOldest(): void {
    for (const address of this.#buckets.keys()) {
      this.#buckets.delete(address)
      return
    }
  }
}
