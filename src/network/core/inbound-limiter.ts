import type { Quota } from './token-bucket.ts'
import { TokenBucket } from './token-bucket.ts'

export interface InboundLimits {
  readonly pending: number
  readonly pendingPerAddress: number
  readonly connectsPerSecond: number
  readonly connectsBurst: number
  /** Addresses remembered. */
  readonly addresses: number
}

interface Guest {
  readonly address: string
  /** Ends the connection. */
  readonly drop: () => void
}

/**
 * Who may knock: connections that have not said who they are, by address. Everything before the handshake costs as little as this. Where
 * it is full the one that has taken longest makes room: an honest handshake takes milliseconds, and whoever only holds places must not keep
 * others out.
 */
export class InboundLimiter {
  readonly #limits: InboundLimits
  readonly #quota: Quota
  /** The oldest first. */
  readonly #guests = new Set<Guest>()
  readonly #pending = new Map<string, number>()
  readonly #rates = new Map<string, TokenBucket>()

  constructor(limits: InboundLimits) {
    this.#limits = limits
    this.#quota = { perSecond: limits.connectsPerSecond, burst: limits.connectsBurst }
  }

  get pending(): number {
    return this.#guests.size
  }

  /** What to call when the handshake is over, in whatever way; undefined: too many from there. `drop` may be called until then. */
  enter(address: string, nowMs: number, drop: () => void): (() => void) | undefined {
    const { pending, pendingPerAddress } = this.#limits
    if (!this.#rate(address, nowMs).take(nowMs)) return undefined
    const here = this.#pending.get(address) ?? 0
    if (here >= pendingPerAddress) return undefined
    const [oldest] = this.#guests
    if (oldest !== undefined && this.#guests.size >= pending) {
      this.#leave(oldest)
      oldest.drop()
    }
    const guest = { address, drop }
    this.#guests.add(guest)
    this.#pending.set(address, (this.#pending.get(address) ?? 0) + 1)
    return () => this.#leave(guest)
  }

  #leave(guest: Guest): void {
    if (!this.#guests.delete(guest)) return
    const here = (this.#pending.get(guest.address) ?? 0) - 1
    if (here > 0) this.#pending.set(guest.address, here)
    else this.#pending.delete(guest.address)
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
