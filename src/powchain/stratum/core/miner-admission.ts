import { addressGroup, isLoopbackAddress } from '@tandem/base/address.ts'
import { Lru } from '@tandem/base/lru.ts'
import { RateLimiter } from '@tandem/base/rate-limiter.ts'
import { STRATUM_LIMITS } from '../../../config/limits/stratum.ts'

/** Reason for which a connection is refused. */
type ConnectRefusal = 'full' | 'address' | 'rate' | 'banned'

type AdmissionLimits = Pick<typeof STRATUM_LIMITS, 'connects' | 'addresses' | 'faults' | 'banMs'> & {
  readonly connections: number
  readonly connectionsPerAddress: number
}

/**
 * Admission of connections by remote address (of IPv6 its /64, which belongs to one subscriber): number, rate, and bans for faults. When all places are taken, an address with few connections
 * takes one from the address with the most, so that a few addresses cannot keep all others out.
 */
export const createMinerAdmission = (limits: AdmissionLimits = STRATUM_LIMITS) => {
  const open = new Map<string, number>()
  const rates = new RateLimiter(limits.connects, limits.addresses)
  const faults = new RateLimiter(limits.faults, limits.addresses)
  const bans = new Lru<string, number>(limits.addresses)
  let connections = 0

  const mostConnections = (): readonly [address: string, count: number] => {
    let most: readonly [string, number] = ['', 0]
    for (const entry of open) if (entry[1] > most[1]) most = entry
    return most
  }

  return {
    get connections(): number {
      return connections
    },

    /** Returns undefined when the connection is admitted; `leave` must follow then, and `crowded` tells which address gives up a place. */
    enter(remoteAddress: string, nowMs: number): ConnectRefusal | undefined {
      const address = addressGroup(remoteAddress)
      const until = bans.peek(address)
      if (until !== undefined && until > nowMs) return 'banned'
      const here = open.get(address) ?? 0
      if (here >= limits.connectionsPerAddress) return 'address'
      if (connections >= limits.connections && mostConnections()[1] < here + 2) return 'full'
      if (!rates.take(address, nowMs)) return 'rate'
      open.set(address, here + 1)
      connections++
      return undefined
    },

    /** Address group with the most connections, while there are more than places. */
    crowded: (): string | undefined => (connections > limits.connections ? mostConnections()[0] : undefined),

    leave(remoteAddress: string): void {
      const address = addressGroup(remoteAddress)
      const here = (open.get(address) ?? 0) - 1
      if (here > 0) open.set(address, here)
      else open.delete(address)
      connections--
    },

    /**
     * Charges a fault to an address; returns true when the connection has to end. The address is banned then, except for the loopback: all
     * miners of this machine share it, so there each connection has faults of its own, and only it ends. `connection`: an id that none had
     * before.
     */
    fault(remoteAddress: string, connection: string, weight: number, nowMs: number): boolean {
      const isLocal = isLoopbackAddress(remoteAddress)
      const sender = isLocal ? connection : addressGroup(remoteAddress)
      if (weight === 0 || faults.take(sender, nowMs, weight)) return false
      if (!isLocal) bans.set(sender, nowMs + limits.banMs)
      faults.delete(sender)
      return true
    },

    /** Number of addresses that are banned. */
    banned(nowMs: number): number {
      let count = 0
      for (const [, until] of bans.entries()) if (until > nowMs) count++
      return count
    },
  }
}

export type MinerAdmission = ReturnType<typeof createMinerAdmission>
