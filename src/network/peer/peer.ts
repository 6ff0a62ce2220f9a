import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { Lru } from '@tandem/base/lru.ts'
import { type Quota, TokenBucket } from '@tandem/base/token-bucket.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import type { ByteBudget } from '../core/byte-budget.ts'
import type { DisconnectReason } from '../core/disconnect-reasons.ts'
import type { ProtocolError } from '../core/errors.ts'
import type { Offence } from '../core/peer-scores.ts'
import type { PeerSlot } from '../core/peer-slots.ts'
import type { Hello, PeerHead } from '../messages/control-messages.ts'
import { costOf, OUTSIDER_QUOTA, paceOf } from '../messages/message-spec.ts'
import {
  ANSWER_NAMES,
  type AnswerName,
  isRequest,
  type MessageName,
  messageFromId,
  messageSpec,
  type Payload,
  type RequestName,
} from '../messages/messages.ts'
import type { ChannelName } from '../wire/channels.ts'
import { encodeFrames, FRAGMENT_BYTES, type MessageHead, type WireMessage } from '../wire/frames.ts'
import type { Connection, ConnectionEnd, ConnectionEvents, TrafficCounters } from './connection.ts'
import { PendingRequests } from './pending-requests.ts'

export interface PeerParams {
  readonly connection: Connection
  readonly hello: Hello
  readonly inbound: boolean
  /** As reported by the socket. */
  readonly remoteAddress: string
  readonly localAddress: string
  readonly place: PeerSlot
  readonly host: PeerHost
}

/** Services of the network that a peer uses. */
export interface PeerHost {
  readonly partial: ByteBudget
  /** Rate limits of the committee's messages by sender, which a new connection does not refill: each message may cost a signature. */
  readonly senderQuotas: Buckets
  /** True for peers on the consensus channels. */
  isNeighbour(peer: Peer): boolean
  /** Handles a message, or the request with `requestId`. */
  received(peer: Peer, name: MessageName, value: unknown, requestId: number): void
  /** Called before a message is decoded. */
  isOfUse(peer: Peer, name: MessageName): boolean
  blame(peer: Peer, offence: Offence, detail: string): void
  /** Called for a message of the committee from a peer that is neither a member nor a relay. */
  skippedOutsider(peer: Peer, name: MessageName): void
  /** Handles an exception caused by the peer's bytes. */
  failed(peer: Peer, message: string, error: unknown): void
  ended(peer: Peer, connectionEnd: ConnectionEnd): void
  counted(event: 'received' | 'sent' | 'dropped' | 'skipped', name: string): void
}

const broken = (reason: string) => new CodedError<ProtocolError>({ code: 'PROTOCOL_BROKEN', reason })
const ANSWERS: ReadonlySet<string> = new Set(Object.values(ANSWER_NAMES))

type LimitName = MessageName | 'outsider'
type Buckets = { get(key: string): TokenBucket | undefined; set(key: string, bucket: TokenBucket): unknown }
/** Returns name and quota of the limit on a message, between neighbours or not. */
const limitOf = (name: MessageName, isNear: boolean): [LimitName, Quota] => {
  const { from, quota } = messageSpec(name)
  return from === 'committee' && !isNear ? ['outsider', OUTSIDER_QUOTA] : [name, quota]
}

/** Encodes a message once, for any number of peers. */
export const encodeWireMessage = <Name extends MessageName>(
  name: Name,
  value: Payload<Name>,
  requestId = 0,
): WireMessage => {
  const { channel, id, codec, maxBytes } = messageSpec(name)
  const payload = codec.encode(value)
  assert(payload.byteLength <= maxBytes, `no ${name} is longer than ${maxBytes} bytes`)
  return encodeFrames(channel, id, requestId, payload)
}

/** Connected node: its quotas, pending requests, and the items it is known to have. */
export class Peer implements ConnectionEvents {
  readonly id: string
  readonly hello: Hello
  readonly inbound: boolean
  readonly remoteAddress: string
  readonly localAddress: string
  /** Changes with the council and with the operator's static peers. */
  place: PeerSlot
  readonly connectedAtMs = Date.now()
  /** Time of the connection on the clock of `performance.now`, which nobody sets. */
  readonly joinedMs = performance.now()
  /** Hashes of the transactions, and of the blocks and evidence, that the peer has. */
  readonly transactions = new Lru<Hex, true>(NETWORK_LIMITS.knownTransactions)
  readonly items = new Lru<Hex, true>(NETWORK_LIMITS.knownItems)
  /** Rate limit of its transactions that the pool refused or is checking. */
  readonly refusals = new TokenBucket(NETWORK_LIMITS.refusals, performance.now())
  /** Rate limit of the transactions it announces or sends unrequested: known ones take as much time as others. */
  readonly gossiped = new TokenBucket(NETWORK_LIMITS.gossipedTransactions, performance.now())
  /** Rate limit in bytes of the blocks sent for its status messages. */
  readonly blockAnswers = new TokenBucket(NETWORK_LIMITS.blockAnswers, performance.now())
  /** Validators that named it as their relay, with the block near which it counts. */
  readonly relayFor = new Map<Hex, number>()
  head: PeerHead
  earliest: number
  rttMs: number | null = null
  /** Requests of this peer being served, and its blocks being decoded. */
  serving = 0
  decoding = 0
  readonly #connection: Connection
  readonly #host: PeerHost
  readonly #pendingRequests = new PendingRequests()
  /** Rate limits of what it sends, and of what is sent to it. */
  readonly #quotas = new Map<string, TokenBucket>()
  readonly #paces = new Map<string, TokenBucket>()
  /** Whether `links` went to it and came from it: who sends them takes the other for a neighbour. */
  #hasToldLinks = false
  #hasHeardLinks = false
  /** Messages being received that count towards the shared limit. */
  readonly #claims = new Set<MessageHead>()

  constructor(params: PeerParams) {
    this.id = params.hello.nodeId
    this.hello = params.hello
    this.inbound = params.inbound
    this.remoteAddress = params.remoteAddress
    this.localAddress = params.localAddress
    this.place = params.place
    this.head = params.hello.head
    this.earliest = params.hello.earliest
    this.#connection = params.connection
    this.#host = params.host
    params.connection.hand(this)
  }

  /** Validator it proved to represent. */
  get validator(): Hex | null {
    return this.hello.proof?.address ?? null
  }

  get trafficCounters(): TrafficCounters {
    return this.#connection.trafficCounters
  }

  get requests(): number {
    return this.#pendingRequests.size
  }

  /** Time since when it takes nothing; null: it takes what is sent. */
  get blockedSinceMs(): number | null {
    return this.#connection.blockedSinceMs
  }

  queuedBytes(channel: ChannelName): number {
    return this.#connection.queuedBytes(channel)
  }

  send<Name extends MessageName>(name: Name, value: Payload<Name>, requestId = 0): boolean {
    return this.sendWire(name, encodeWireMessage(name, value, requestId))
  }

  /** Returns false, and sends nothing, where the peer has had as much of this kind of message as an honest sender sends, or takes too little. */
  sendWire(name: MessageName, message: WireMessage): boolean {
    if (!ANSWERS.has(name) && !isRequest(name)) {
      const [limit, quota] = limitOf(name, this.#hasHeardLinks)
      const pace = this.#bucket(this.#paces, limit, paceOf(quota, false))
      if (pace.waitMs(performance.now()) > 0) {
        this.#host.counted('dropped', message.channel)
        return false
      }
      pace.charge(performance.now(), costOf(message.bytes.byteLength))
    }
    if (name === 'links') this.#hasToldLinks = true
    this.#host.counted('sent', name)
    return this.#connection.send(message)
  }

  /** Waits for the pace of such requests. Rejects with CodedError<RequestError>. */
  async request<Name extends RequestName>(name: Name, value: Payload<Name>): Promise<AnswerName<Name>> {
    const pace = this.#bucket(this.#paces, name, paceOf(messageSpec(name).quota, true))
    const answer = await this.#pendingRequests.ask(name, pace, id => void this.send(name, value, id))
    return answer as AnswerName<Name>
  }

  close(reason: DisconnectReason, detail?: string): void {
    this.#connection.close(reason, detail)
  }

  /** Called regularly. */
  watch(): void {
    this.#connection.watch()
  }

  begin(channel: ChannelName, head: MessageHead): 'take' | 'skip' {
    const name = messageFromId(head.id)
    if (name === undefined) throw broken(`no message ${head.id}`)
    const spec = messageSpec(name)
    if (spec.channel !== channel) throw broken(`${name} on the channel ${channel}`)
    if (head.length > spec.maxBytes) throw broken(`${name} of ${head.length} bytes, at most ${spec.maxBytes}`)
    if (spec.from === 'handshake' && name !== 'disconnect') throw broken(`${name} after the handshake`)
    if (this.#isWanted(name, head) && this.#host.isOfUse(this, name) && this.#hasRoom(name, head)) return 'take'
    this.#host.counted('skipped', name)
    return 'skip'
  }

  deliver(_: ChannelName, head: MessageHead, payload: Uint8Array): void {
    this.abandon(head)
    const name = messageFromId(head.id) as MessageName
    const value = messageSpec(name).codec.decode(payload)
    this.#host.counted('received', name)
    if (ANSWERS.has(name)) this.#pendingRequests.settle(head.requestId, value)
    else if (name === 'disconnect') this.#connection.endedBy(value as Payload<'disconnect'>)
    else this.#host.received(this, name, value, head.requestId)
  }

  abandon(head: MessageHead): void {
    if (this.#claims.delete(head)) this.#host.partial.give(head.length)
  }

  failed(error: unknown): void {
    this.#host.failed(this, 'bytes', error)
    // The following bytes cannot be decoded.
    this.#connection.close('misbehaved')
  }

  ended(connectionEnd: ConnectionEnd): void {
    this.#pendingRequests.close()
    this.#host.ended(this, connectionEnd)
  }

  dropped(channel: ChannelName): void {
    this.#host.counted('dropped', channel)
  }

  /**
   * Long unrequested messages share one memory limit. A sender that finds it used up is not at fault, and the content can be requested
   * instead. Members are few and authenticated: messages held for other peers must not keep their blocks out. Transactions, one message
   * of a megabyte a peer, are not offered again.
   */
  #hasRoom(name: MessageName, head: MessageHead): boolean {
    const isFree = messageSpec(name).channel === 'transactions' || ANSWERS.has(name) || head.length <= FRAGMENT_BYTES
    if (this.place === 'reserved' || isFree) return true
    if (!this.#host.partial.take(head.length)) return false
    this.#claims.add(head)
    return true
  }

  #isWanted(name: MessageName, { requestId, length }: MessageHead): boolean {
    if (ANSWERS.has(name)) {
      const response = this.#pendingRequests.begins(requestId, name)
      if (response === 'unknown') this.#host.blame(this, 'useless', `${name} that was not requested`)
      return response === 'expected'
    }
    if (isRequest(name) !== requestId > 0) throw broken(`${name} with the request id ${requestId}`)
    // A new member may act as one before this node, some blocks behind, knows it: not an offence below the flood limit.
    const isOfCommittee = messageSpec(name).from === 'committee'
    const isOutside = isOfCommittee && !this.#host.isNeighbour(this)
    if (name === 'links') this.#hasHeardLinks = true
    const [limit, quota] = limitOf(name, !isOutside || this.#hasToldLinks)
    const bucket =
      isOfCommittee && limit === name
        ? this.#bucket(this.#host.senderQuotas, `${name} ${this.validator ?? this.id}`, quota)
        : this.#bucket(this.#quotas, limit, quota)
    if (!bucket.take(performance.now(), costOf(length))) {
      this.#host.blame(this, 'flood', name)
      return false
    }
    if (isOutside) this.#host.skippedOutsider(this, name)
    return !isOutside
  }

  #bucket(buckets: Buckets, name: string, quota: Quota): TokenBucket {
    return getOrMake(buckets, name, () => new TokenBucket(quota, performance.now()))
  }
}
