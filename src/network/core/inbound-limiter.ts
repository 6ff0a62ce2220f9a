import { subscriberOf } from '@tandem/base/address.ts'
import { RateLimiter } from '@tandem/base/rate-limiter.ts'
import { largestShare, networksOf } from './peer-slots.ts'

interface InboundLimits {
  readonly pending: number
  readonly pendingPerAddress: number
  readonly connectsPerSecond: number
  readonly connectsBurst: number
  /** Limit of remembered addresses. */
  readonly addresses: number
}

interface PendingConnection {
  readonly subscriber: string
  readonly networks: readonly string[]
  /** Closes the connection. */
  readonly drop: () => void
}

/**
 * Limits inbound connections before their handshake, by address. Every check before the handshake is this cheap. When full, the connection
 * that has taken longest is dropped, among those of the network that has most: who only occupies slots cannot keep others out.
 */
export class InboundLimiter {
  readonly #limits: InboundLimits
  /** Oldest first. */
  readonly #connections = new Set<PendingConnection>()
  readonly #pending = new Map<string, number>()
  readonly #rates: RateLimiter

  constructor(limits: InboundLimits) {
    this.#limits = limits
    const { connectsPerSecond: perSecond, connectsBurst: burst } = limits
    this.#rates = new RateLimiter({ perSecond, burst }, limits.addresses)
  }

  get pending(): number {
    return this.#connections.size
  }

  /**
   * Admits a connection; returns the function to call when its handshake has ended, or undefined when the address exceeds its limits.
   * `drop` may be called until then.
   */
  enter(address: string, nowMs: number, drop: () => void): (() => void) | undefined {
    const { pending, pendingPerAddress } = this.#limits
    const subscriber = subscriberOf(address)
    if (!this.#rates.take(subscriber, nowMs)) return undefined
    if ((this.#pending.get(subscriber) ?? 0) >= pendingPerAddress) return undefined
    const connection = { subscriber, networks: networksOf(address), drop }
    if (this.#connections.size >= pending) this.#makeRoom(connection)
    this.#connections.add(connection)
    this.#pending.set(subscriber, (this.#pending.get(subscriber) ?? 0) + 1)
    return () => this.#leave(connection)
  }

  #makeRoom({ networks }: PendingConnection): void {
    const all = [...this.#connections]
    const dropped = largestShare(all, networks, 1)[0] ?? all[0]
    if (dropped === undefined) return
    this.#leave(dropped)
    dropped.drop()
  }

  #leave(connection: PendingConnection): void {
    if (!this.#connections.delete(connection)) return
    const here = (this.#pending.get(connection.subscriber) ?? 0) - 1
    if (here > 0) this.#pending.set(connection.subscriber, here)
    else this.#pending.delete(connection.subscriber)
  }
}
