import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { Lru } from '@tandem/base/lru.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'

type Resolve = (host: string) => Promise<{ readonly address: string }>

/**
 * Addresses of named hosts. A lookup has a time limit of its own and one is under way for each name: the system's may take half a minute
 * and holds a thread meanwhile. Where it fails, the last address it had counts.
 */
export class HostLookup {
  readonly #resolve: Resolve
  readonly #last = new Lru<string, string>(NETWORK_LIMITS.lookedUp)
  readonly #underWay = new Map<string, Promise<string>>()

  constructor(resolve: Resolve = host => lookup(host)) {
    this.#resolve = resolve
  }

  /** Returns an IP address. Rejects when none is known in time. */
  async addressOf(host: string): Promise<string> {
    if (isIP(host) !== 0) return host
    const running = this.#underWay.get(host) ?? this.#begin(host)
    const late = Promise.withResolvers<string>()
    const timer = setTimeout(() => late.reject(new Error('the name was not resolved in time')), NETWORK_LIMITS.lookUpMs)
    try {
      return await Promise.race([running, late.promise])
    } catch (error) {
      const last = this.#last.get(host)
      if (last === undefined) throw error
      return last
    } finally {
      clearTimeout(timer)
    }
  }

  #begin(host: string): Promise<string> {
    const running = this.#resolve(host)
      .then(({ address }) => {
        this.#last.set(host, address)
        return address
      })
      .finally(() => this.#underWay.delete(host))
    // A late failure has no listener any more.
    running.catch(() => {})
    this.#underWay.set(host, running)
    return running
  }
}
