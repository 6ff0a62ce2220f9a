import { RateLimiter } from '../../util/rate-limiter.ts'

interface InboundLimits {
  readonly pending: number
  readonly pendingPerAddress: number
  readonly connectsPerSecond: number
  readonly connectsBurst: number
  /** Limit of remembered addresses. */
  readonly addresses: number
}

interface PendingConnection {
  readonly address: string
  /** Closes the connection. */
  readonly drop: () => void
}

/**
 * Limits inbound connections before their handshake, by address. Every check before the handshake is this cheap. When full, the connection
 * that has taken longest is dropped: an honest handshake takes milliseconds, so a client that only occupies slots cannot keep others out.
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
    if (!this.#rates.take(address, nowMs)) return undefined
    const here = this.#pending.get(address) ?? 0
    if (here >= pendingPerAddress) return undefined
    const [oldest] = this.#connections
    if (oldest !== undefined && this.#connections.size >= pending) {
      this.#leave(oldest)
      oldest.drop()
    }
    const connection = { address, drop }
    this.#connections.add(connection)
    this.#pending.set(address, (this.#pending.get(address) ?? 0) + 1)
    return () => this.#leave(connection)
  }

  #leave(connection: PendingConnection): void {
    if (!this.#connections.delete(connection)) return
    const here = (this.#pending.get(connection.address) ?? 0) - 1
    if (here > 0) this.#pending.set(connection.address, here)
    else this.#pending.delete(connection.address)
  }
}
