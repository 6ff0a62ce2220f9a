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

/** Starts to ping peers, new ones within a second, and to close connections that are silent or too slow; returns the function that stops. */
export const startHeartbeat = ({ identity, metrics, peers, heard, tick }: HeartbeatOptions): (() => void) => {
  const pingedMs = new WeakMap<Peer, number>()
  /** A missing pong alone is ignored: the connection's silence timeout decides. */
  const ping = async (peer: Peer, sentMs: number): Promise<void> => {
    try {
      const pong = await peer.request('ping', identity.ping())
      const elapsedMs = performance.now() - sentMs
      peer.rttMs = peer.rttMs === null ? elapsedMs : 0.7 * peer.rttMs + 0.3 * elapsedMs
      metrics?.roundTrips.observe(elapsedMs / 1_000)
      heard(peer, pong)
    } catch (error) {
      if (!isCoded(error)) peers.failed(peer, 'pong', error)
    }
  }
  const timer = setInterval(() => {
    const nowMs = performance.now()
    for (const peer of peers.peers()) {
      peer.watch()
      if (nowMs - (pingedMs.get(peer) ?? Number.NEGATIVE_INFINITY) < NETWORK_LIMITS.pingMs) continue
      pingedMs.set(peer, nowMs)
      void ping(peer, nowMs)
    }
    tick()
  }, WATCH_MS)
  return () => clearInterval(timer)
}
