import type tls from 'node:tls'
import { LIMITS } from '../../config/limits.ts'
import type { Clock } from '../../util/clock.ts'
import type { Logger } from '../../util/logger.ts'
import type { DialBook, NodeAddress } from '../core/dial-scheduler.ts'
import type { Standings } from '../core/peer-scores.ts'
import { channelOf, dial } from '../tls/transport.ts'
import type { Meetings } from './handshake-manager.ts'
import type { PeerSet } from './peer-set.ts'

export interface DialerOptions {
  readonly book: DialBook
  readonly peers: PeerSet
  readonly meetings: Meetings
  readonly standings: Standings
  readonly secure: tls.CommonConnectionOptions
  readonly clock: Clock
  readonly logger: Logger
  random(): number
}

/** Opens connections as the dial book says. */
export class Dialer {
  readonly #options: DialerOptions
  readonly #dialing = new Set<string>()
  readonly #stopping = new AbortController()
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

  /** Looks at the book now: something was added. */
  hurry(): void {
    if (this.#stopping.signal.aborted) return
    this.#cancel()
    this.#tick()
  }

  #tick(): void {
    const { book, clock, peers, meetings, standings } = this.#options
    const nowMs = clock.nowMs()
    const scene = {
      isBusy: (id: string) => peers.peer(id) !== undefined || this.#dialing.has(id) || meetings.has(id),
      isBanned: (id: string) => standings.isBanned(id, nowMs),
      dialing: this.#dialing.size,
      outbound: peers.peers().filter(({ place }) => place === 'outbound').length,
    }
    for (const address of book.due(nowMs, scene)) void this.#dial(address)
    this.#cancel = clock.schedule(nowMs + LIMITS.network.dialTickMs, () => this.#tick())
  }

  async #dial(address: NodeAddress): Promise<void> {
    const { secure, meetings, logger } = this.#options
    const { id, host, port } = address
    this.#dialing.add(id)
    try {
      const socket = await dial(address, secure, this.#stopping.signal)
      const channel = channelOf(socket)
      if (channel !== undefined && !this.#stopping.signal.aborted) {
        meetings.begin(channel, address, () => this.#dialing.delete(id))
        return
      }
      socket.destroy()
      logger.info({ peer: id, host, port }, 'what answers there is no node of this protocol')
    } catch (error) {
      logger.debug({ peer: id, host, port, err: error }, 'peer not reached')
    }
    this.#dialing.delete(id)
    const { book, clock, random } = this.#options
    book.failed(id, 'unreachable', clock.nowMs(), random())
  }
}
