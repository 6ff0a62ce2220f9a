import type { Quota } from './token-bucket.ts'
import { TokenBucket } from './token-bucket.ts'

export interface DoorLimits {
  readonly pending: number
  readonly pendingPerAddress: number
  readonly connectsPerSecond: number
  readonly connectsBurst: number
  /** Addresses remembered. */
  readonly addresses: number
}

/** Who may knock: connections that have not said who they are, by address. Everything before the handshake costs as little as this. */
export class Door {
  readonly #limits: DoorLimits
  readonly #quota: Quota
  readonly #pending = new Map<string, number>()
  readonly #rates = new Map<string, TokenBucket>()
  #total = 0

  constructor(limits: DoorLimits) {
    this.#limits = limits
    this.#quota = { perSecond: limits.connectsPerSecond, burst: limits.connectsBurst }
  }

  get pending(): number {
    return this.#total
  }

  /** false: too many. true: to be given back by `leave` when the handshake is over. */
  enter(address: string, nowMs: number): boolean {
    if (!this.#rate(address, nowMs).take(nowMs)) return false
    const here = this.#pending.get(address) ?? 0
    if (this.#total >= this.#limits.pending || here >= this.#limits.pendingPerAddress) return false
    this.#pending.set(address, here + 1)
    this.#total++
    return true
  }

  leave(address: string): void {
    const here = (this.#pending.get(address) ?? 0) - 1
    if (here > 0) this.#pending.set(address, here)
    else this.#pending.delete(address)
    this.#total--
  }

  /** The address seen longest ago is forgotten first: with its burst it may begin anew. */
  #rate(address: string, nowMs: number): TokenBucket {
    const known = this.#rates.get(address)
    const bucket = known ?? new TokenBucket(this.#quota, nowMs)
    this.#rates.delete(address)
    for (const oldest of this.#rates.keys()) {
      if (this.#rates.size < this.#limits.addresses) break
      this.#rates.delete(oldest)
    }
    this.#rates.set(address, bucket)
    return bucket
  }
}
