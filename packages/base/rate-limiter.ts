import { getOrMake } from './get-or-make.ts'
import { Lru } from './lru.ts'
import { type Quota, TokenBucket } from './token-bucket.ts'

/** Rate limit of each of many senders. At most `senders` are remembered; the one forgotten starts with a full burst again. */
export class RateLimiter {
  readonly #quota: Quota
  readonly #buckets: Lru<string, TokenBucket>

  constructor(quota: Quota, senders: number) {
    this.#quota = quota
    this.#buckets = new Lru(senders)
  }

  /** Takes tokens; returns false when the sender has too few. */
  take(sender: string, nowMs: number, cost = 1): boolean {
    return this.#bucket(sender, nowMs).take(nowMs, cost)
  }

  /** Returns true while the sender has any token left. */
  allows(sender: string, nowMs: number): boolean {
    return this.#bucket(sender, nowMs).hasTokens(nowMs)
  }

  /**
   * Takes tokens even where the sender has too few: the size of a batch is not known before it is parsed. A sender in debt waits.
   */
  charge(sender: string, nowMs: number, cost: number): void {
    this.#bucket(sender, nowMs).charge(nowMs, cost)
  }

  /** Forgets a sender. */
  delete(sender: string): void {
    this.#buckets.delete(sender)
  }

  #bucket(sender: string, nowMs: number): TokenBucket {
    return getOrMake(this.#buckets, sender, () => new TokenBucket(this.#quota, nowMs))
  }
}
