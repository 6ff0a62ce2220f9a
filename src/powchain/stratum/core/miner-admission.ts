import { STRATUM_LIMITS } from '../../../config/limits/stratum.ts'
import { Lru } from '../../../util/lru.ts'
import { RateLimiter } from '../../../util/rate-limiter.ts'

/** Reason for which a connection is refused. */
type ConnectRefusal = 'full' | 'address' | 'rate' | 'banned'

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/

/** Admission of connections by remote address: number, rate, and bans for faults. */
export class MinerAdmission {
  readonly #open = new Map<string, number>()
  readonly #rates = new RateLimiter(STRATUM_LIMITS.connects, STRATUM_LIMITS.addresses)
  readonly #faults = new RateLimiter(STRATUM_LIMITS.faults, STRATUM_LIMITS.addresses)
  readonly #bans = new Lru<string, number>(STRATUM_LIMITS.addresses)
  #connections = 0

  get connections(): number {
    return this.#connections
  }

  /** Returns undefined when the connection is admitted; `leave` must follow then. */
  enter(address: string, nowMs: number): ConnectRefusal | undefined {
    const until = this.#bans.peek(address)
    if (until !== undefined && until > nowMs) return 'banned'
    const here = this.#open.get(address) ?? 0
    if (here >= STRATUM_LIMITS.connectionsPerAddress) return 'address'
    if (this.#connections >= STRATUM_LIMITS.connections) return 'full'
    if (!this.#rates.take(address, nowMs)) return 'rate'
    this.#open.set(address, here + 1)
    this.#connections++
    return undefined
  }

  leave(address: string): void {
    const here = (this.#open.get(address) ?? 0) - 1
    if (here > 0) this.#open.set(address, here)
    else this.#open.delete(address)
    this.#connections--
  }

  /**
   * Charges a fault to an address; returns true when the connection has to end. The address is banned then, except for the loopback: all
   * miners of this machine share it, so there only the connection ends.
   */
  fault(address: string, weight: number, nowMs: number): boolean {
    if (weight === 0 || this.#faults.take(address, nowMs, weight)) return false
    if (!LOOPBACK.test(address)) {
      this.#bans.set(address, nowMs + STRATUM_LIMITS.banMs)
      this.#faults.delete(address)
    }
    return true
  }

  /** Number of addresses that are banned. */
  banned(nowMs: number): number {
    let count = 0
    for (const [, until] of this.#bans.entries()) if (until > nowMs) count++
    return count
  }
}
