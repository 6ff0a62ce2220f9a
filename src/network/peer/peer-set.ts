import { addressGroup, isLoopbackAddress } from '@tandem/base/address.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { Lru } from '@tandem/base/lru.ts'
import { TokenBucket } from '@tandem/base/token-bucket.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { ByteBudget } from '../core/byte-budget.ts'
import type { DisconnectReason } from '../core/disconnect-reasons.ts'
import type { Offence, PeerScores } from '../core/peer-scores.ts'
import { networksOf, peerToEvict, type SlotCounts } from '../core/peer-slots.ts'
import type { MessageName } from '../messages/messages.ts'
import { MessageBoundary } from './boundary.ts'
import type { ConnectionEnd, TrafficCounters } from './connection.ts'
import type { NetworkCore } from './network-core.ts'
import { Peer, type PeerHost, type PeerParams } from './peer.ts'

/** Log lines about strangers' connections, at a bounded rate; others are at debug, and the next line tells their number. */
export class StrangerLog {
  readonly #logger: Logger
  readonly #quota = new TokenBucket(NETWORK_LIMITS.strangerLines, performance.now())
  #suppressed = 0

  constructor(logger: Logger) {
    this.#logger = logger
  }

  log(level: 'info' | 'warn', fields: object, message: string): void {
    if (!this.#quota.take(performance.now())) {
      this.#suppressed++
      this.#logger.debug(fields, message)
      return
    }
    this.#logger[level]({ ...fields, ...(this.#suppressed > 0 && { suppressed: this.#suppressed }) }, message)
    this.#suppressed = 0
  }
}

export interface PeerSetEvents {
  joined(peer: Peer): void
  left(peer: Peer, connectionEnd: ConnectionEnd): void
  /** Handles a message; a rejection of the result is charged to the peer. */
  received(peer: Peer, name: MessageName, value: unknown, requestId: number): unknown
  /** Called before a message is decoded: returns true when it can have an effect. */
  isOfUse(peer: Peer, name: MessageName): boolean
}

type PeerSetOptions = Pick<
  NetworkCore,
  'members' | 'chain' | 'scores' | 'relays' | 'statics' | 'limits' | 'clock' | 'logger' | 'metrics' | 'random'
>

/** Peer as far as an offence concerns it, connected or gone. */
type PenalizedPeer = Pick<Peer, 'id' | 'remoteAddress' | 'inbound' | 'validator' | 'place'>

/** Holder of an inbound place. */
interface InboundHolder extends Pick<Peer, 'id' | 'remoteAddress'> {
  close(reason: DisconnectReason, detail: string): void
}

/** Set of connected peers. */
export class PeerSet implements PeerHost {
  readonly partial = new ByteBudget(NETWORK_LIMITS.partialBytes)
  readonly senderQuotas = new Lru<string, TokenBucket>(NETWORK_LIMITS.peerScores)
  /** Handles exceptions from the messages of peers. */
  readonly boundary: MessageBoundary
  readonly strangerLog: StrangerLog
  readonly #options: PeerSetOptions
  readonly #peers = new Map<string, Peer>()
  readonly #events: PeerSetEvents
  readonly #counted = new WeakMap<Peer, TrafficCounters>()
  readonly #outsiders = new WeakSet<Peer>()
  /** Relays with a member that named them, also while they are away: strangers may have taken the other places meanwhile. */
  readonly #relays = new Lru<string, Hex>(NETWORK_LIMITS.reserved)
  #list: readonly Peer[] = []
  /** Peers that left recently: their messages may still turn out to be false. Nothing else of them is kept. */
  readonly #gone = new Lru<string, PenalizedPeer>(NETWORK_LIMITS.gonePeers)

  constructor(options: PeerSetOptions, events: PeerSetEvents) {
    this.#options = options
    this.#events = events
    this.strangerLog = new StrangerLog(options.logger)
    this.boundary = new MessageBoundary((...offence) => this.blame(...offence), options.logger)
  }

  get size(): number {
    return this.#peers.size
  }

  peers(): readonly Peer[] {
    return this.#list
  }

  peer(id: string): Peer | undefined {
    return this.#peers.get(id)
  }

  /** Returns a number between 0 and 1. */
  random(): number {
    return this.#options.random()
  }

  /** Returns true when a peer is on the consensus channels: a proven member, or a relay that the operator or a member named. */
  isNeighbour(peer: Peer): boolean {
    return this.isMember(peer) || this.isOwnRelay(peer) || this.#relayedMember(peer) !== undefined
  }

  /** Returns true for a relay that this node's operator named. */
  isOwnRelay({ id }: Peer): boolean {
    return this.#options.relays.has(id)
  }

  /** Returns true when a peer proved to be a member. */
  isMember({ validator }: Peer): boolean {
    return validator !== null && this.#options.members.isMember(validator)
  }

  /** A statement counts from one life before its block on: a node a little behind needs it, and nobody signs for years ahead. */
  #relayedMember({ relayFor }: Peer): Hex | undefined {
    const { members, chain } = this.#options
    for (const [validator, number] of relayFor)
      if (number <= chain.head().number + NETWORK_LIMITS.delegationBlocks && members.isMember(validator))
        return validator
    return undefined
  }

  isStatic(id: string): boolean {
    return this.#options.statics.has(id)
  }

  /** Returns true when a node may take a reserved slot: a member, a static peer, or one that was a relay when it was connected last. */
  isReserved(id: string, validator: Hex | null): boolean {
    const { statics, members } = this.#options
    return statics.has(id) || (validator !== null && members.isMember(validator)) || this.#relays.has(id)
  }

  /** Updates the slots after changes of members or static peers. Called regularly. */
  assignPlaces(): void {
    const { limits, logger } = this.#options
    let taken = this.#list.filter(({ place: peerSlot }) => peerSlot === 'reserved').length
    for (const peer of this.#list) {
      const member = this.#relayedMember(peer)
      if (member === undefined) this.#relays.delete(peer.id)
      else this.#rememberRelay(peer.id, member)
      const isReserved = this.isReserved(peer.id, peer.validator)
      if (isReserved === (peer.place === 'reserved') || (isReserved && taken >= limits.reserved)) continue
      taken += isReserved ? 1 : -1
      peer.place = isReserved ? 'reserved' : peer.inbound ? 'inbound' : 'outbound'
      logger.info({ ...nameOf(peer), place: peer.place }, 'peer slot changed')
    }
  }

  /** Keeps the last relays of each member, as many as count: one member could name any number in turn. */
  #rememberRelay(id: string, member: Hex): void {
    this.#relays.set(id, member)
    const [oldest, ...others] = [...this.#relays.entries()].filter(([, other]) => other === member)
    if (oldest !== undefined && others.length >= NETWORK_LIMITS.relaysPerValidator) this.#relays.delete(oldest[0])
  }

  /** Returns the slot counts for a node, without the node itself. */
  counts(id: string, address: string): SlotCounts {
    const others = this.#list.filter(peer => peer.id !== id)
    const group = addressGroup(address)
    const at = (peerSlot: Peer['place']) => others.filter(peer => peer.place === peerSlot).length
    return {
      inbound: at('inbound'),
      outbound: at('outbound'),
      reserved: at('reserved'),
      sameAddress: others.filter(peer => peer.place !== 'reserved' && addressGroup(peer.remoteAddress) === group)
        .length,
    }
  }

  /**
   * Disconnects an inbound peer in favour of one from a network with fewer peers; returns false when there is none to disconnect. `coming`:
   * handshakes that were promised a place, which count as peers: otherwise those of one network would displace any number.
   */
  makeRoom(address: string, coming: readonly InboundHolder[]): boolean {
    const replaceable = this.#list.filter(peer => peer.place === 'inbound' && !this.isNeighbour(peer))
    const counted = [...replaceable, ...coming].filter(({ remoteAddress }) => !isLoopbackAddress(remoteAddress))
    const holdings = counted.map(holder => ({ ...holder, holder, networks: networksOf(holder.remoteAddress) }))
    const evicted = holdings.find(({ id }) => id === peerToEvict(holdings, networksOf(address)))?.holder
    evicted?.close('tooManyPeers', 'a place for another network')
    return evicted !== undefined
  }

  /** Adds a node after its handshake; a connection with the same id was closed before. */
  add(params: Omit<PeerParams, 'host'>): Peer {
    const peer = new Peer({ ...params, host: this })
    this.#peers.set(peer.id, peer)
    this.#list = [...this.#peers.values()]
    this.#log(peer, 'info', { client: peer.hello.client, place: peer.place }, 'peer connected')
    this.boundary.run(peer, 'hello', () => this.#events.joined(peer))
    return peer
  }

  blame(peer: Peer, offence: Offence, detail: string): void {
    const scoreAction = this.#penalize(peer, offence, detail)
    if (offence === 'malformed') peer.close('malformed', detail)
    else if (scoreAction !== 'keep')
      peer.close(scoreAction === 'ban' ? 'banned' : 'misbehaved', `${offence}: ${detail}`)
  }

  #penalize(peer: PenalizedPeer, offence: Offence, detail: string): ReturnType<PeerScores['blame']> {
    const { scores, clock, logger, metrics } = this.#options
    const nowMs = clock.nowMs()
    const { id, validator, place: peerSlot } = peer
    const blamed = { id, validator, address: penalizedAddress(peer.remoteAddress), isReserved: peerSlot === 'reserved' }
    const wasBanned = scores.isBanned(id, nowMs)
    const scoreAction = scores.blame(blamed, offence, nowMs)
    metrics?.offences.inc({ offence })
    const score = Math.round(scores.score(peer.id, nowMs))
    logger.debug({ ...nameOf(peer), offence, detail, score, verdict: scoreAction }, 'peer penalized')
    if (scoreAction === 'ban' && !wasBanned) {
      metrics?.bans.inc()
      this.#log(peer, 'warn', { offence, detail }, 'peer banned')
    }
    return scoreAction
  }

  /** Like `blame`, for a peer that may have left meanwhile. */
  blameId(id: string, offence: Offence, detail: string): void {
    const peer = this.#peers.get(id)
    const gone = this.#gone.get(id)
    if (peer !== undefined) this.blame(peer, offence, detail)
    else if (gone !== undefined) this.#penalize(gone, offence, detail)
  }

  /** Says once for each peer that is neither member nor relay that its messages are skipped: the operator of a sentry would look in vain. */
  skippedOutsider(peer: Peer, name: MessageName): void {
    if (this.#outsiders.has(peer)) return
    this.#outsiders.add(peer)
    this.strangerLog.log(
      'info',
      { ...nameOf(peer), message: name },
      'consensus messages of a peer are skipped: it is no member of the council, and no member named it with --relays',
    )
  }

  isOfUse(peer: Peer, name: MessageName): boolean {
    return this.#events.isOfUse(peer, name)
  }

  received(peer: Peer, name: MessageName, value: unknown, requestId: number): void {
    this.boundary.run(peer, name, () => this.#events.received(peer, name, value, requestId))
  }

  /** Charges an exception to the peer whose bytes or message caused it. */
  failed(peer: Peer, message: string, error: unknown): void {
    this.boundary.failed(peer, message, error)
  }

  ended(peer: Peer, connectionEnd: ConnectionEnd): void {
    if (this.#peers.get(peer.id) === peer) {
      this.#peers.delete(peer.id)
      const { id, remoteAddress, inbound, validator, place } = peer
      this.#gone.set(id, { id, remoteAddress, inbound, validator, place })
      this.#list = [...this.#peers.values()]
    }
    this.#countTraffic(peer)
    const lastedMs = Math.round(performance.now() - peer.joinedMs)
    this.#log(peer, 'info', { ...connectionEnd, lastedMs }, 'peer disconnected')
    if (!connectionEnd.remote && connectionEnd.reason === 'slow') this.blame(peer, 'slow', connectionEnd.detail ?? '')
    this.boundary.run(peer, 'end', () => this.#events.left(peer, connectionEnd))
  }

  #log(peer: PenalizedPeer, level: 'info' | 'warn', fields: object, message: string): void {
    const named = { ...nameOf(peer), ...fields }
    if (peer.place === 'reserved') this.#options.logger[level](named, message)
    else this.strangerLog.log(level, named, message)
  }

  /** Called regularly. */
  countTraffic(): void {
    for (const peer of this.#list) this.#countTraffic(peer)
  }

  #countTraffic(peer: Peer): void {
    const { metrics } = this.#options
    const { trafficCounters } = peer
    const before = this.#counted.get(peer)
    this.#counted.set(peer, trafficCounters)
    metrics?.bytes.inc({ direction: 'received' }, trafficCounters.receivedBytes - (before?.receivedBytes ?? 0))
    metrics?.bytes.inc({ direction: 'sent' }, trafficCounters.sentBytes - (before?.sentBytes ?? 0))
  }

  counted(event: 'received' | 'sent' | 'dropped' | 'skipped', name: string): void {
    const { metrics } = this.#options
    if (event === 'dropped') metrics?.drops.inc({ channel: name })
    else metrics?.messages.inc({ event, message: name })
  }
}

const nameOf = ({ id, remoteAddress, inbound, validator }: PenalizedPeer) => ({
  peer: id,
  address: remoteAddress,
  direction: inbound ? 'inbound' : 'outbound',
  ...(validator !== null && { validator }),
})

/** Returns the address that an offence counts against; null for the loopback, which several nodes of one operator may share. */
export const penalizedAddress = (address: string): string | null =>
  isLoopbackAddress(address) ? null : addressGroup(address)
