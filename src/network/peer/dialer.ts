import type { Clock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import type { DialScheduler, NodeAddress } from '../core/dial-scheduler.ts'
import type { PeerScores } from '../core/peer-scores.ts'
import { HostLookup } from '../transport/host-lookup.ts'
import type { ChannelIdentity } from '../transport/secure-channel.ts'
import { dial } from '../transport/transport.ts'
import type { HandshakeManager } from './handshake-manager.ts'
import type { PeerSet } from './peer-set.ts'

interface DialerOptions {
  readonly dialScheduler: DialScheduler
  readonly peers: PeerSet
  readonly handshakes: HandshakeManager
  readonly scores: PeerScores
  readonly channelIdentity: ChannelIdentity
  readonly clock: Pick<Clock, 'nowMs'>
  readonly logger: Logger
  random(): number
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

  start(): void {
    this.#tick()
  }

  stop(): void {
    this.#stopping.abort()
    this.#cancel()
  }

  /** Checks the scheduler now, after an addition. */
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
