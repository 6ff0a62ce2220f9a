import { RateLimiter } from '@tandem/base/rate-limiter.ts'
import { largestShare, networksOf } from './peer-slots.ts'

/** Limits of inbound connections, from NETWORK_LIMITS. */
type InboundLimits = Readonly<
  Record<'pending' | 'pendingPerAddress' | 'connectsPerSecond' | 'connectsBurst' | 'addresses', number>
>

/** Rates of an address, its /24 and its /16 (IPv6: /64, /48, /32), in rates of an address: new addresses cost the owner of a network nothing. */
export const CONNECT_SHARES = [1, 4, 16]

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
  readonly #rates: readonly RateLimiter[]

  constructor(limits: InboundLimits) {
    this.#limits = limits
    const { connectsPerSecond: rate, connectsBurst: burst, addresses } = limits
    this.#rates = CONNECT_SHARES.map(n => new RateLimiter({ perSecond: n * rate, burst: n * burst }, addresses))
  }

  get pending(): number {
    return this.#connections.size
  }

  /** Admits a connection; returns what its handshake's end calls, undefined beyond limits. `drop` may be called until then. */
  enter(address: string, nowMs: number, drop: () => void): (() => void) | undefined {
    const { pending, pendingPerAddress } = this.#limits
    const networks = networksOf(address)
    // An address beyond its own rate takes nothing from its network's.
    if (!networks.toReversed().every((name, level) => this.#rates[level]?.take(name, nowMs))) return undefined
    const subscriber = networks.at(-1) ?? address
    const here = [...this.#connections].filter(open => open.subscriber === subscriber).length
    if (here >= pendingPerAddress) return undefined
    const connection = { subscriber, networks, drop }
    if (this.#connections.size >= pending) this.#makeRoom(connection)
    this.#connections.add(connection)
    return () => void this.#connections.delete(connection)
  }

  #makeRoom({ networks, subscriber }: PendingConnection): void {
    const all = [...this.#connections]
    const dropped = largestShare(all, networks, 1)[0] ?? all.find(pending => pending.subscriber === subscriber)
    if (dropped === undefined) return
    this.#connections.delete(dropped)
    dropped.drop()
  }
}
