import { isCoded } from '@tandem/base/errors.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import type { Ping } from '../messages/control-messages.ts'
import type { NetworkCore } from './network-core.ts'
import type { Peer } from './peer.ts'
import type { PeerSet } from './peer-set.ts'

const WATCH_MS = 1_000

interface HeartbeatOptions extends Pick<NetworkCore, 'identity' | 'metrics'> {
  readonly peers: PeerSet
  /** Handles the head that a peer reported. */
  heard(peer: Peer, ping: Ping): void
  /** Called each second, after the peers were checked. */
  tick(): void
}

/** Pings peers, new ones within a second, and closes connections that are silent or too slow. */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #pingedMs = new WeakMap<Peer, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: HeartbeatOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer = setInterval(() => this.#watch(), WATCH_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #watch(): void {
    const nowMs = performance.now()
    for (const peer of this.#options.peers.peers()) {
      peer.watch()
      if (nowMs - (this.#pingedMs.get(peer) ?? Number.NEGATIVE_INFINITY) < NETWORK_LIMITS.pingMs) continue
      this.#pingedMs.set(peer, nowMs)
      void this.#ping(peer, nowMs)
    }
    this.#options.tick()
  }

  /** A missing pong alone is ignored: the connection's silence timeout decides. */
  async #ping(peer: Peer, sentMs: number): Promise<void> {
    const { identity, heard, metrics } = this.#options
    try {
      const pong = await peer.request('ping', identity.ping())
      const elapsedMs = performance.now() - sentMs
      peer.rttMs = peer.rttMs === null ? elapsedMs : 0.7 * peer.rttMs + 0.3 * elapsedMs
      metrics?.roundTrip(elapsedMs / 1_000)
      heard(peer, pong)
    } catch (error) {
      if (!isCoded(error)) this.#options.peers.failed(peer, 'pong', error)
    }
  }
}
