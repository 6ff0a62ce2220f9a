import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { Lru } from '@tandem/base/lru.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import type { NodeAddress } from '../core/dial-scheduler.ts'
import { dial } from '../transport/transport.ts'
import type { HandshakeManager } from './handshake-manager.ts'
import type { NetworkCore } from './network-core.ts'
import type { PeerSet } from './peer-set.ts'

interface DialerOptions extends NetworkCore {
  readonly peers: PeerSet
  readonly handshakes: HandshakeManager
}

/** Opens connections as the dial scheduler decides. */
export class Dialer {
  readonly #options: DialerOptions
  readonly #dialing = new Set<string>()
  readonly #stopping = new AbortController()
  readonly #lookup = new HostLookup()
  #cancel: () => void = () => {}

  constructor(options: DialerOptions) {
    this.#options = options
  }

  stop(): void {
    this.#stopping.abort()
    this.#cancel()
  }

  /** Checks the scheduler now: at the start, and after an addition. */
  hurry(): void {
    if (this.#stopping.signal.aborted) return
    this.#cancel()
    this.#tick()
  }

  #tick(): void {
    const { dialScheduler, clock, peers, handshakes, scores } = this.#options
    const nowMs = performance.now()
    const scene = {
      isBusy: (id: string) => peers.peer(id) !== undefined || this.#dialing.has(id) || handshakes.has(id),
      isBanned: (id: string) => scores.isBanned(id, clock.nowMs()),
      dialing: this.#dialing,
      outbound: peers.peers().flatMap(({ place, remoteAddress }) => (place === 'outbound' ? [remoteAddress] : [])),
    }
    for (const address of dialScheduler.due(nowMs, scene)) void this.#dial(address)
    const timer = setTimeout(() => this.#tick(), NETWORK_LIMITS.dialTickMs)
    this.#cancel = () => clearTimeout(timer)
  }

  async #dial(address: NodeAddress): Promise<void> {
    const { channelIdentity, handshakes, logger } = this.#options
    const { id, host, port } = address
    this.#dialing.add(id)
    try {
      const target = { host: await this.#lookup.addressOf(host), port }
      const secureChannel = await dial(target, channelIdentity, this.#stopping.signal)
      handshakes.begin(secureChannel, address, () => this.#dialing.delete(id))
      return
    } catch (error) {
      logger.debug({ peer: id, host, port, err: error }, 'peer not reachable')
    }
    this.#dialing.delete(id)
    const { dialScheduler, random } = this.#options
    dialScheduler.failed(id, 'unreachable', performance.now(), random())
  }
}

type Resolve = (host: string) => Promise<{ readonly address: string }>

/** Addresses of named hosts, one lookup a name, limited in time: the system's holds a thread. On failure the last address counts. */
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
