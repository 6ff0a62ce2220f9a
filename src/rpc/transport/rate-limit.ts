export interface RateLimit {
  /** Calls per second and address; each call of a batch counts. */
  readonly perSecond: number
  /** Calls that may come at once. */
  readonly burst: number
}

const ADDRESSES = 100_000

/**
 * One bucket of tokens per client address. A batch is let in while any token is left and may leave a debt, so its size
 * need not be known before it is parsed; who owes waits.
 */
export class RateLimiter {
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>()
  readonly #limit: RateLimit
  readonly #nowMs: () => number

  constructor(limit: RateLimit, nowMs: () => number = () => performance.now()) {
    this.#limit = limit
    this.#nowMs = nowMs
  }

  /** Whether the address may call now. */
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

  /** The bound on memory: who came first is forgotten first, and starts with a full bucket again. */
  #forgetOldest(): void {
    for (const address of this.#buckets.keys()) {
      this.#buckets.delete(address)
      return
    }
  }
}
