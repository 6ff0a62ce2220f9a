import { randomBytes } from 'node:crypto'
import { scopeOf, subscriberOf } from '@tandem/base/address.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { TokenBucket } from '@tandem/base/token-bucket.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { AddressBook, type BookEntry, networkOf, type PeerRecord } from '../core/address-book.ts'
import type { DialScheduler } from '../core/dial-scheduler.ts'
import { readPeerRecord } from '../identity/peer-record.ts'
import type { ChainDomain } from '../messages/control-messages.ts'
import { isMalformed } from '../peer/boundary.ts'
import type { Peer } from '../peer/peer.ts'
import type { PeerSet } from '../peer/peer-set.ts'

interface PeerExchangeOptions {
  readonly hub: PeerSet
  readonly dialScheduler: DialScheduler
  readonly domain: ChainDomain
  readonly selfId: string
  /** Loopback addresses are useful only to nodes on the same machine. */
  readonly acceptsLoopback: boolean
  /** Ports below the first that records may name: those this node is configured with. */
  readonly lowPorts: ReadonlySet<number>
  isMember(validator: Hex): boolean
}

/** Sources of records from the file of an earlier run that does not name them. */
const UNKNOWN_SOURCE = '-'
const FLAGS = { tried: 't', untried: 'n' } as const

/** Discovery: records from hellos and responses are stored, shared, and given to the dial scheduler. */
export class PeerExchange {
  readonly book: AddressBook
  readonly #options: PeerExchangeOptions
  /** Budgets of signatures verified for strangers, apart for those that dialed this node and those that it dialed. */
  readonly #checks = {
    inbound: new TokenBucket(NETWORK_LIMITS.recordChecks, performance.now()),
    outbound: new TokenBucket(NETWORK_LIMITS.recordChecks, performance.now()),
  }

  constructor(options: PeerExchangeOptions) {
    this.#options = options
    const { hub, isMember, dialScheduler } = options
    this.book = new AddressBook({
      secret: randomBytes(16).toString('hex'),
      isMember,
      isConnected: id => hub.peer(id) !== undefined,
      random: () => hub.random(),
      evicted: id => {
        if (dialScheduler.kindOf(id) === 'known') dialScheduler.remove(id)
      },
    })
  }

  /** Returns true when a node claims to represent a member of the committee: its newest records count. */
  isMember(id: string): boolean {
    const validator = this.book.get(id)?.validator ?? null
    return validator !== null && this.#options.isMember(validator)
  }

  /** Addresses of members. */
  memberHosts(): readonly string[] {
    return this.book.entries().flatMap(({ record: { id, host } }) => (this.isMember(id) ? [host] : []))
  }

  /** Marks the record of a node to which a connection stands. */
  connected(id: string): void {
    this.book.tried(id)
  }

  restore(records: readonly string[]): void {
    for (const text of records) {
      const [bytes = '', source = UNKNOWN_SOURCE, flag] = text.split(' ').reverse()
      try {
        const record = this.#take(new Uint8Array(Buffer.from(bytes, 'base64')), { source, scope: null, checks: null })
        if (typeof record === 'object' && flag === FLAGS.tried) this.connected(record.id)
      } catch (error) {
        // A record written by another version.
        if (!isCoded(error)) throw error
      }
    }
  }

  /** Returns the records to save, those of `anchors` first: they are dialed first after a restart. */
  saved(anchors: readonly string[]): readonly string[] {
    const rank = ({ record }: BookEntry) => (anchors.includes(record.id) ? 0 : 1)
    return this.book
      .entries()
      .toSorted((a, b) => rank(a) - rank(b))
      .map(({ record: { bytes }, source, isTried }) =>
        [isTried ? FLAGS.tried : FLAGS.untried, source, Buffer.from(bytes).toString('base64')].join(' '),
      )
  }

  /** Builds the response to a request for records: this node's own record and others, except the peer's. */
  answer(peer: Pick<Peer, 'id'>, own: PeerRecord | null): readonly Uint8Array[] {
    const others = this.book.sample(NETWORK_LIMITS.recordsPerAnswer - 1, peer.id)
    return [...(own === null ? [] : [own]), ...others].map(({ bytes }) => bytes)
  }

  async ask(peer: Peer): Promise<void> {
    const { hub } = this.#options
    try {
      const records = await peer.request('getRecords', null)
      for (const bytes of records) {
        this.heard(peer, bytes)
        const pause = sliceOver(peer.id)
        if (pause !== undefined) await pause
      }
    } catch (error) {
      if (isCoded(error) && error.code === 'REQUEST_TIMEOUT') hub.blame(peer, 'timeout', 'getRecords')
      else if (!isCoded(error) || isMalformed(error)) hub.failed(peer, 'records', error)
    }
  }

  /** Takes records from a node that had no place for this one, as far as they are right. */
  heardFrom(remoteAddress: string, records: readonly Uint8Array[]): void {
    for (const bytes of records) {
      try {
        this.#take(bytes, { ...originOf(remoteAddress), checks: this.#checks.outbound })
      } catch (error) {
        if (!isCoded(error)) throw error
      }
    }
  }

  /** Handles a record from a peer, perhaps its own. Throws MESSAGE_MALFORMED. */
  heard(peer: Peer, bytes: Uint8Array): void {
    const checks = peer.place === 'reserved' ? null : this.#checks[peer.place]
    const result = this.#take(bytes, { ...originOf(peer.remoteAddress), checks, teller: peer })
    if (result === 'false') this.#options.hub.blame(peer, 'falsehood', 'a record its node did not sign')
  }

  /** When two nodes learn of each other at once, the one with the lower id dials first: the other waits a moment. */
  #firstDialMs(id: string): number {
    return id < this.#options.selfId ? performance.now() + NETWORK_LIMITS.yieldMs : 0
  }

  #take(bytes: Uint8Array, { source, scope, checks, teller }: Origin): PeerRecord | 'old' | 'false' {
    const { dialScheduler, domain, selfId } = this.#options
    // One beyond the budget comes again with a later response.
    const isNews = (id: string, sequence: number) =>
      id !== selfId && this.book.isNews(id, sequence) && (checks?.take(performance.now()) ?? true)
    const record = readPeerRecord(bytes, domain, isNews)
    if (typeof record === 'string') return record
    if (!this.#isDialable(record, scope)) return 'old'
    const isAtHost = record.id === teller?.id && subscriberOf(record.host) === subscriberOf(teller.remoteAddress)
    if (!this.book.put(record, source, isAtHost)) return 'old'
    dialScheduler.add(record, 'known', this.#firstDialMs(record.id))
    return record
  }

  /** Keeps a stranger from making this node dial its own networks, or services that are no nodes. */
  #isDialable({ host, port }: PeerRecord, from: AddressScope | null): boolean {
    const { acceptsLoopback, lowPorts } = this.#options
    if (port < NETWORK_LIMITS.firstPort && !lowPorts.has(port)) return false
    const scope = scopeOf(host)
    if (scope === 'loopback') return acceptsLoopback
    return scope === 'global' || (scope === 'private' && from !== 'global')
  }
}

type AddressScope = ReturnType<typeof scopeOf>

/** Origin of a record. */
interface Origin {
  /** Network of the peer that told it. */
  readonly source: string
  /** Reach of the address of that peer; null: the record was accepted by an earlier run. */
  readonly scope: AddressScope | null
  /** Budget of the check; null: there is none for members, static peers, and the node's own file. */
  readonly checks: TokenBucket | null
  /** Connected peer that told it. */
  readonly teller?: Pick<Peer, 'id' | 'remoteAddress'>
}

const originOf = (remoteAddress: string) => ({ source: networkOf(remoteAddress), scope: scopeOf(remoteAddress) })
