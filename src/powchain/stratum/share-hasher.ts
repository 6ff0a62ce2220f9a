import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { TokenBucket } from '@tandem/base/token-bucket.ts'
import { STRATUM_LIMITS } from '../../config/limits/stratum.ts'

type HashShare = (sealHash: Hex, nonce: Uint8Array) => Promise<Uint8Array>

/** Argon2id hashes of shares: a few at once, a bounded queue, and a rate for all connections together. */
export class ShareHasher {
  readonly #hash: HashShare
  readonly #clock: Clock
  readonly #rate: TokenBucket
  readonly #waiting: (() => void)[] = []
  #running = 0
  #count = 0

  constructor(hash: HashShare, clock: Clock) {
    this.#hash = hash
    this.#clock = clock
    this.#rate = new TokenBucket(STRATUM_LIMITS.argon2, clock.nowMs())
  }

  /** Hashes since the start. */
  get count(): number {
    return this.#count
  }

  /** Resolves to undefined when too many shares wait. */
  async hash(sealHash: Hex, nonce: Uint8Array): Promise<Uint8Array | undefined> {
    if (this.#waiting.length >= STRATUM_LIMITS.argon2Waiting || !this.#rate.take(this.#clock.nowMs())) return undefined
    await this.#enter()
    this.#count++
    try {
      return await this.#hash(sealHash, nonce)
    } finally {
      this.#leave()
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < STRATUM_LIMITS.argon2AtOnce) this.#running++
    else
      await new Promise<void>(resolve => {
        this.#waiting.push(resolve)
      })
  }

  /** Passes the place to the next in the queue. */
  #leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#running--
    else next()
  }
}
