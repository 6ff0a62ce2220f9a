import type { Socket } from 'node:net'
import { addressGroup } from '@tandem/base/address.ts'
import type { StratumSession } from './stratum-session.ts'

export interface MinerConnection {
  readonly socket: Socket
  readonly session: StratumSession
  readonly address: string
  readonly sinceMs: number
  lastLineMs: number
  /** Closed by the server. */
  isEnding: boolean
}

const PREFIX_BYTES = 2
const PREFIXES = 2 ** (8 * PREFIX_BYTES)

/** Open connections by the first two bytes of their nonces, which no two of them share. */
export class MinerConnections {
  readonly #connections = new Map<number, MinerConnection>()
  #nextPrefix = 0

  /** Returns a prefix that no open connection has. */
  takePrefix(): number {
    while (this.#connections.has(this.#nextPrefix)) this.#nextPrefix = (this.#nextPrefix + 1) % PREFIXES
    const prefix = this.#nextPrefix
    this.#nextPrefix = (prefix + 1) % PREFIXES
    return prefix
  }

  add(prefix: number, connection: MinerConnection): void {
    this.#connections.set(prefix, connection)
  }

  delete(prefix: number): void {
    this.#connections.delete(prefix)
  }

  /** Copy, which stays as it is while connections close. */
  all(): readonly MinerConnection[] {
    return [...this.#connections.values()]
  }

  /** Returns the youngest connection of a group of addresses, rather one without an accepted share. */
  leastWorthy(group: string): MinerConnection | undefined {
    let found: MinerConnection | undefined
    for (const connection of this.#connections.values()) {
      if (connection.isEnding || addressGroup(connection.address) !== group) continue
      if (found === undefined || connection.session.isActive <= found.session.isActive) found = connection
    }
    return found
  }
}
