import { subscriberOf } from '@tandem/base/address.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { Lru } from '@tandem/base/lru.ts'
import { shuffled } from '@tandem/base/random.ts'
import { NETWORK_LIMITS } from '../config/limits/network.ts'
import { assembleNetwork, type NetworkParts } from './assemble-network.ts'
import type { NodeAddress } from './core/dial-scheduler.ts'
import { DisplacedConnections } from './core/duplicate-connections.ts'
import type { NetworkError } from './core/errors.ts'
import { InboundLimiter } from './core/inbound-limiter.ts'
import type { CommittedBlock } from './gossip/block-gossip.ts'
import type { NewTransaction } from './gossip/transaction-gossip.ts'
import type { NetworkOptions } from './identity/options.ts'
import { peerUrl } from './identity/peer-url.ts'
import { NETWORK_PROTOCOL_VERSION } from './messages/messages.ts'
import type { NetworkPorts } from './messages/ports.ts'
import type { ConnectionEnd, TrafficCounters } from './peer/connection.ts'
import type { Peer } from './peer/peer.ts'
import { PeerStore } from './peer/peer-store.ts'
import type { SecureChannel } from './transport/secure-channel.ts'
import { type Listener, listen } from './transport/transport.ts'

/** Connected node, as shown to the operator. */
export interface PeerDescription extends TrafficCounters, OfPeer {
  readonly client: string
  /** URL at which it can be dialed; null: not known. */
  readonly url: string | null
  readonly isStatic: boolean
  /** 0 to -100. */
  readonly score: number
}

type OfPeer = Readonly<
  Pick<Peer, 'id' | 'localAddress' | 'remoteAddress' | 'inbound' | 'place' | 'validator'> &
    Pick<Peer, 'head' | 'earliest' | 'rttMs' | 'connectedAtMs'>
>

/** Description of this node for its operator. */
interface NodeDescription {
  readonly id: string
  readonly client: string
  /** tandem://id@host:port; null: the address is not published. */
  readonly url: string | null
  readonly listening: { readonly host: string; readonly port: number } | null
  readonly validator: Hex | null
  readonly protocolVersion: number
}

const tooManyStatic = (limit: number): Error => new CodedError<NetworkError>({ code: 'TOO_MANY_STATIC_PEERS', limit })

/** Peers and all messages between them (docs/network.md). */
export class Network {
  readonly consensus: NetworkParts['consensus']
  readonly evidence: NetworkParts['evidence']
  readonly proofs: NetworkParts['proofs']
  /** Tries one peer after the other. Rejects with CodedError<RequestError>. */
  readonly request: NetworkParts['request']
  readonly #options: NetworkOptions
  readonly #parts: NetworkParts
  readonly #inboundLimiter: InboundLimiter
  /** Has places for members and static peers, so that no number of strangers delays them. */
  readonly #reservedLimiter: InboundLimiter
  /** Subscribers from which a member or a static peer was connected. */
  readonly #reservedAddresses = new Lru<string, true>(NETWORK_LIMITS.reservedAddresses)
  readonly #store: PeerStore
  readonly #displacedConnections = new DisplacedConnections()
  /** Subscribers that records of members and the operator name, as of the last tick. */
  #wantedAddresses: ReadonlySet<string> = new Set()
  #listener: Listener | null = null
  #stopHeartbeat: () => void = () => {}
  #askedMs = Number.NEGATIVE_INFINITY
  #savedMs = performance.now()
  #isStopped = false

  /** Nothing happens before `start`. Throws TOO_MANY_STATIC_PEERS. */
  constructor(options: NetworkOptions, ports: NetworkPorts) {
    this.#options = options
    this.#parts = assembleNetwork(options, ports, {
      joined: peer => this.#joined(peer),
      left: (peer, connectionEnd) => this.#left(peer, connectionEnd),
      tick: () => this.#tick(),
    })
    const { dialScheduler, statics, limits, consensus, evidence, proofs, request } = this.#parts
    this.consensus = consensus
    this.evidence = evidence
    this.proofs = proofs
    this.request = request
    this.#inboundLimiter = new InboundLimiter(limits)
    this.#reservedLimiter = new InboundLimiter(limits)
    this.#store = new PeerStore(options.storePath, options.logger)
    if (statics.size > limits.staticPeers) throw tooManyStatic(limits.staticPeers)
    for (const address of options.staticPeers ?? []) dialScheduler.add(address, 'static')
    for (const address of options.bootnodes ?? []) dialScheduler.add(address, 'bootnode')
  }

  get peerCount(): number {
    return this.#parts.peers.size
  }

  get isListening(): boolean {
    return this.#listener !== null
  }

  /** Genesis hash of the last dialed node that was refused for it; null: none since a peer was connected. */
  get foreignGenesis(): Hex | null {
    return this.#parts.handshakes.foreignGenesis
  }

  /** Listens and begins to dial. Throws the system's error of listening. */
  async start(): Promise<void> {
    const { identity, scores, records, dialer, heartbeat, channelIdentity, limits, clock, discovers } = this.#parts
    const { listen: place, logger } = this.#options
    const memory = await this.#store.load()
    scores.restore(memory.scores, clock.nowMs())
    identity.sequence = memory.sequence
    if (discovers) records.restore(memory.records)
    if (place !== null) {
      this.#listener = await listen(place, channelIdentity, {
        enter: (address, drop) => this.#enter(address, drop),
        secured: (channel, leave) => this.#secured(channel, leave),
        handshakeMs: limits.handshakeMs,
      })
      identity.publish(this.#listener.port)
      void this.#save()
    }
    logger.info({ ...this.self() }, 'network started')
    this.#stopHeartbeat = heartbeat()
    dialer.hurry()
  }

  /** Tells peers, closes everything, saves scores and records. */
  async stop(): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    const { consensus, dialer, handshakes, peers, transactions } = this.#parts
    dialer.stop()
    this.#stopHeartbeat()
    transactions.close()
    const saved = this.#save()
    handshakes.close()
    for (const peer of peers.peers()) peer.close('stopping')
    consensus.close()
    await this.#listener?.close()
    this.#listener = null
    await saved
  }

  announceTransactions(transactions: readonly NewTransaction[]): void {
    if (this.peerCount > 0) this.#parts.transactions.announce(transactions)
  }

  announceBlock(block: CommittedBlock): void {
    this.#parts.blocks.announce(block)
  }

  /** Bans a peer whose block or response is proven false in a way it must have known. */
  reportForgery(id: string, detail: string): void {
    this.#parts.peers.blameId(id, 'forged', detail)
  }

  peers(): readonly PeerDescription[] {
    const { peers, records, scores, statics, clock } = this.#parts
    const nowMs = clock.nowMs()
    return peers.peers().map(peer => {
      const { id, localAddress, remoteAddress, inbound, place, validator, head, earliest, rttMs, connectedAtMs } = peer
      const own = { id, localAddress, remoteAddress, inbound, place, validator, head, earliest, rttMs, connectedAtMs }
      const record = records.book.get(id)
      const known = { url: record ? peerUrl(record) : null, isStatic: statics.has(id), score: scores.score(id, nowMs) }
      return { ...own, client: peer.hello.client, ...known, ...peer.trafficCounters }
    })
  }

  self(): NodeDescription {
    const { identity } = this.#parts
    const { clientVersion, validator } = this.#options
    const { record, id } = identity
    return {
      id,
      client: clientVersion,
      url: record && peerUrl(record),
      listening: this.#listener && { host: this.#listener.host, port: this.#listener.port },
      validator: validator?.address ?? null,
      protocolVersion: NETWORK_PROTOCOL_VERSION,
    }
  }

  /** Adds a static peer: it is redialed without end, in a reserved slot, and its score is cleared. Throws TOO_MANY_STATIC_PEERS. */
  addPeer(address: NodeAddress): void {
    const { statics, scores, dialScheduler, dialer, limits } = this.#parts
    if (statics.size >= limits.staticPeers && !statics.has(address.id)) {
      throw tooManyStatic(limits.staticPeers)
    }
    statics.add(address.id)
    scores.pardon(address.id)
    dialScheduler.remove(address.id)
    dialScheduler.add(address, 'static')
    dialer.hurry()
  }

  /** Disconnects a node and stops dialing it; returns false when it was neither connected nor known. */
  removePeer(id: string): boolean {
    const { statics, dialScheduler, peers, records } = this.#parts
    statics.delete(id)
    records.book.remove(id)
    const isKnown = dialScheduler.remove(id)
    const peer = peers.peer(id)
    peer?.close('removed', 'by the operator')
    return isKnown || peer !== undefined
  }

  /** Checks a connection before anything is read. Bans of addresses are for strangers: a member may be behind the same one. */
  #enter(address: string, drop: () => void): (() => void) | undefined {
    if (this.#isStopped) return undefined
    const limiter = this.#isReservedAddress(address) ? this.#reservedLimiter : this.#inboundLimiter
    return limiter.enter(address, performance.now(), drop)
  }

  /** Returns true for addresses of members, by their records or an earlier connection, and of static peers. */
  #isReservedAddress(address: string): boolean {
    const subscriber = subscriberOf(address)
    return this.#wantedAddresses.has(subscriber) || this.#reservedAddresses.peek(subscriber) !== undefined
  }

  #secured(secureChannel: SecureChannel, leave: () => void): void {
    if (this.#isStopped) secureChannel.socket.destroy()
    else this.#parts.handshakes.begin(secureChannel, null, leave)
  }

  #joined(peer: Peer): void {
    const { consensus, delegations, records, transactions, discovers } = this.#parts
    if (peer.place === 'reserved') this.#reservedAddresses.set(subscriberOf(peer.remoteAddress), true)
    delegations.joined(peer)
    consensus.joined(peer)
    transactions.joined(peer)
    if (!discovers) return
    if (!peer.inbound) records.connected(peer.id)
    if (peer.hello.record.byteLength > 0) records.heard(peer, peer.hello.record)
    // Whoever dials this node may be anyone, and each record costs two signatures to verify.
    if (!peer.inbound || peer.place === 'reserved') void records.ask(peer)
  }

  #left(peer: Peer, { reason, remote }: ConnectionEnd): void {
    const { consensus, transactions, dialScheduler, random } = this.#parts
    consensus.left(peer)
    transactions.left(peer)
    const nowMs = performance.now()
    if (reason !== 'duplicate') dialScheduler.ended(peer.id, reason, nowMs - peer.joinedMs, nowMs, random())
    else if (remote) this.#displaced(peer.id)
  }

  /** The peer keeps another connection with this node: one of this process, or of a second one with its key. */
  #displaced(peerId: string): void {
    const { peers, handshakes, identity } = this.#parts
    const isOurs = peers.peer(peerId) !== undefined || handshakes.has(peerId)
    if (!isOurs && this.#displacedConnections.add(performance.now()))
      this.#options.logger.warn(
        { id: identity.id },
        'another node runs with the node-key.pem of this one: peers keep only one of the two',
      )
  }

  #tick(): void {
    const { consensus, delegations, records, dialScheduler, peers, random, discovers } = this.#parts
    peers.countTraffic()
    peers.assignPlaces()
    this.#wantedAddresses = new Set([...records.memberHosts(), ...dialScheduler.staticHosts()].map(subscriberOf))
    const nowMs = performance.now()
    // Membership changes with the chain, independently of connections.
    delegations.tick()
    consensus.announceLinks()
    if (discovers && nowMs - this.#askedMs >= NETWORK_LIMITS.askRecordsMs) {
      this.#askedMs = nowMs
      const [peer] = shuffled(peers.peers(), random)
      if (peer !== undefined) void records.ask(peer)
    }
    if (nowMs - this.#savedMs >= NETWORK_LIMITS.storeMs) void this.#save()
  }

  #save(): Promise<void> {
    this.#savedMs = performance.now()
    const { scores, records, identity, clock, peers } = this.#parts
    // Dialed peers of no special importance that have stayed longest: a restart begins with them, whoever crowds the address book.
    const outbound = peers.peers().filter(({ place }) => place === 'outbound')
    const anchors = outbound.slice(0, NETWORK_LIMITS.anchors).map(({ id }) => id)
    return this.#store.save({
      scores: scores.entries(clock.nowMs()),
      records: records.saved(anchors),
      sequence: identity.sequence,
    })
  }
}
