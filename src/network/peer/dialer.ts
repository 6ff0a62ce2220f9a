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

/** Creates the part that opens connections as the dial scheduler decides. */
export const createDialer = (options: DialerOptions) => {
  const { dialScheduler, clock, peers, handshakes, scores, channelIdentity, logger, random } = options
  const dialing = new Set<string>()
  const stopping = new AbortController()
  const hosts = new HostLookup()
  let timer: NodeJS.Timeout | undefined

  const open = async (address: NodeAddress): Promise<void> => {
    const { id, host, port } = address
    dialing.add(id)
    try {
      const target = { host: await hosts.addressOf(host), port }
      const secureChannel = await dial(target, channelIdentity, stopping.signal)
      handshakes.begin(secureChannel, address, () => dialing.delete(id))
      return
    } catch (error) {
      logger.debug({ peer: id, host, port, err: error }, 'peer not reachable')
    }
    dialing.delete(id)
    dialScheduler.failed(id, 'unreachable', performance.now(), random())
  }

  return {
    stop(): void {
      stopping.abort()
      clearTimeout(timer)
    },

    /** Checks the scheduler now, at the start and after an addition, and regularly from then on. */
    hurry(): void {
      if (stopping.signal.aborted) return
      clearTimeout(timer)
      const scene = {
        isBusy: (id: string) => peers.peer(id) !== undefined || dialing.has(id) || handshakes.has(id),
        isBanned: (id: string) => scores.isBanned(id, clock.nowMs()),
        dialing,
        outbound: peers.peers().flatMap(({ place, remoteAddress }) => (place === 'outbound' ? [remoteAddress] : [])),
      }
      for (const address of dialScheduler.due(performance.now(), scene)) void open(address)
      timer = setTimeout(() => this.hurry(), NETWORK_LIMITS.dialTickMs)
    },
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
