import { FAUCET_LIMITS } from '../../config/limits/faucet.ts'
import { TokenBucket } from '../../util/token-bucket.ts'

const { clients, quota } = FAUCET_LIMITS.http

/** Rate of requests of each client; those seen longest ago are forgotten. */
export class ClientQuota {
  readonly #buckets = new Map<string, TokenBucket>()

  take(client: string, nowMs: number): boolean {
    const bucket = this.#buckets.get(client) ?? new TokenBucket(quota, nowMs)
    this.#buckets.delete(client)
    this.#buckets.set(client, bucket)
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > clients && oldest !== undefined) this.#buckets.delete(oldest)
    return bucket.take(nowMs)
  }
}
