import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { isLoopbackAddress, isUnspecifiedAddress } from '../../util/address.ts'
import type { Hex } from '../../util/bytes.ts'
import type { Clock } from '../../util/clock.ts'
import { isCoded } from '../../util/errors.ts'
import { AddressBook, type PeerRecord } from '../core/address-book.ts'
import type { DialScheduler } from '../core/dial-scheduler.ts'
import { readPeerRecord } from '../identity/peer-record.ts'
import type { ChainDomain } from '../identity/validator-proof.ts'
import type { Peer } from '../peer/peer.ts'
import type { PeerHub } from './peer-hub.ts'

interface PeerExchangeOptions {
  readonly hub: PeerHub
  readonly dialScheduler: DialScheduler
  readonly domain: ChainDomain
  readonly selfId: string
  readonly clock: Pick<Clock, 'nowMs'>
  /** Loopback addresses are useful only to nodes on the same machine. */
  readonly acceptsLoopback: boolean
}

/** Discovery: records from hellos and responses are stored, shared, and given to the dial scheduler. */
export class PeerExchange {
  readonly #options: PeerExchangeOptions
  readonly #records = new AddressBook(NETWORK_LIMITS.records)

  constructor(options: PeerExchangeOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#records.size
  }

  get(id: string): PeerRecord | undefined {
    return this.#records.get(id)
  }

  /** Returns the validator a node claims to represent. */
  validatorOf(id: string): Hex | null {
    return this.#records.get(id)?.validator ?? null
  }

  restore(records: readonly string[]): void {
    for (const text of records) {
      try {
        this.#take(new Uint8Array(Buffer.from(text, 'base64')))
      } catch (error) {
        // A record written by another version.
        if (!isCoded(error)) throw error
      }
    }
  }

  saved(): readonly string[] {
    return this.#records.all().map(({ bytes }) => Buffer.from(bytes).toString('base64'))
  }

  /** Builds the response to a request for records: this node's own record and others, except the peer's. */
  answer(peer: Peer, own: PeerRecord | null): readonly Uint8Array[] {
    const others = this.#records.sample(NETWORK_LIMITS.recordsPerAnswer - 1, peer.id, () => this.#options.hub.random())
    return [...(own === null ? [] : [own]), ...others].map(({ bytes }) => bytes)
  }

  async ask(peer: Peer): Promise<void> {
    const { hub } = this.#options
    try {
      const records = await peer.request('getRecords', null)
      for (const bytes of records) this.heard(peer, bytes)
    } catch (error) {
      if (!isCoded(error)) hub.failed(peer, 'records', error)
      else if (error.code === 'REQUEST_TIMEOUT') hub.blame(peer, 'timeout', 'getRecords')
    }
  }

  /** Handles a record from a peer, perhaps its own. */
  heard(peer: Peer, bytes: Uint8Array): void {
    const { hub } = this.#options
    try {
      if (this.#take(bytes) === 'false') hub.blame(peer, 'falsehood', 'a record its node did not sign')
    } catch (error) {
      if (!isCoded(error)) throw error
      hub.blame(peer, 'malformed', error.message)
    }
  }

  forget(id: string): void {
    this.#records.remove(id)
  }

  /** When two nodes learn of each other at once, the one with the lower id dials first: the other waits a moment. */
  #firstDialMs(id: string): number {
    const { clock, selfId } = this.#options
    return id < selfId ? clock.nowMs() + NETWORK_LIMITS.yieldMs : 0
  }

  #take(bytes: Uint8Array): 'new' | 'old' | 'false' {
    const { hub, dialScheduler, domain, selfId, acceptsLoopback } = this.#options
    const isNews = (id: string, sequence: number) => id !== selfId && this.#records.isNews(id, sequence)
    const record = readPeerRecord(bytes, domain, isNews)
    if (typeof record === 'string') return record
    // This node itself would answer.
    if (isUnspecifiedAddress(record.host) || (!acceptsLoopback && isLoopbackAddress(record.host))) return 'old'
    const gone = this.#records.put(record, id => hub.peer(id) !== undefined, hub.random())
    if (gone !== undefined && dialScheduler.kindOf(gone) === 'known') dialScheduler.remove(gone)
    if (gone !== record.id) dialScheduler.add(record, 'known', this.#firstDialMs(record.id))
    return 'new'
  }
}
