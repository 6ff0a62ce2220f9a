import { LIMITS } from '../../config/limits.ts'
import { assert } from '../../util/assert.ts'
import type { Hex } from '../../util/bytes.ts'
import { CodedError } from '../../util/errors.ts'
import { Lru } from '../../util/lru.ts'
import type { ByteBudget } from '../core/byte-budget.ts'
import type { DisconnectReason } from '../core/disconnect-reasons.ts'
import type { Offence } from '../core/peer-scores.ts'
import type { PeerSlot } from '../core/peer-slots.ts'
import { TokenBucket } from '../core/token-bucket.ts'
import type { ProtocolError } from '../errors.ts'
import {
  ANSWER_NAMES,
  type AnswerName,
  type MessageName,
  messageFromId,
  messageSpec,
  type Payload,
  type RequestName,
} from '../messages.ts'
import type { ChannelName } from '../wire/channels.ts'
import type { Hello, PeerHead } from '../wire/control.ts'
import { encodeFrames, FRAGMENT_BYTES, type MessageHead, type WireMessage } from '../wire/frames.ts'
import type { Connection, ConnectionEnd, ConnectionEvents, TrafficCounters } from './connection.ts'
import { PendingRequests } from './pending-requests.ts'

export interface PeerParams {
  readonly connection: Connection
  readonly hello: Hello
  readonly inbound: boolean
  /** As the socket shows it. */
  readonly remoteAddress: string
  readonly localAddress: string
  readonly place: PeerSlot
  readonly host: PeerHost
}

/** What a peer asks of the network it belongs to. */
export interface PeerHost {
  readonly partial: ByteBudget
  /** On the consensus channels. */
  isNeighbour(peer: Peer): boolean
  /** A message, or the question behind `requestId`. */
  received(peer: Peer, name: MessageName, value: unknown, requestId: number): void
  /** Asked before a message is read. */
  isOfUse(peer: Peer, name: MessageName): boolean
  blame(peer: Peer, offence: Offence, detail: string): void
  /** Takes an exception that the peer's bytes brought about. */
  failed(peer: Peer, message: string, error: unknown): void
  ended(peer: Peer, connectionEnd: ConnectionEnd): void
  counted(event: 'received' | 'sent' | 'dropped' | 'skipped', name: string): void
}

const broken = (reason: string) => new CodedError<ProtocolError>({ code: 'PROTOCOL_BROKEN', reason })
const ANSWERS: ReadonlySet<string> = new Set(Object.values(ANSWER_NAMES))
const isRequest = (name: MessageName): name is RequestName => Object.hasOwn(ANSWER_NAMES, name)

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

/** A message counts once, and once more for each frame's worth of bytes: what it costs to look at grows with them. */
const quotaCost = (payloadBytes: number): number => 1 + Math.floor(payloadBytes / FRAGMENT_BYTES)

/** A connected node: what it may send, what it was asked, what it is known to have. */
export class Peer implements ConnectionEvents {
  readonly id: string
  readonly hello: Hello
  readonly inbound: boolean
  readonly remoteAddress: string
  readonly localAddress: string
  /** Changes with the council, and with the operator's word. */
  place: PeerSlot
  readonly connectedAtMs = Date.now()
  /** Transactions it has; blocks and evidence it has. By hash. */
  readonly transactions = new Lru<Hex, true>(LIMITS.network.knownTransactions)
  readonly items = new Lru<Hex, true>(LIMITS.network.knownItems)
  /** Of its transactions that the pool refused or is looking at. */
  readonly refusals = new TokenBucket(LIMITS.network.refusals, performance.now())
  /** Bytes of blocks it is sent for its statuses. */
  readonly blockAnswers = new TokenBucket(LIMITS.network.blockAnswers, performance.now())
  head: PeerHead
  earliest: number
  rttMs: number | null = null
  /** Questions of its that are being answered, blocks of its that are being decoded. */
  serving = 0
  decoding = 0
  readonly #connection: Connection
  readonly #host: PeerHost
  readonly #pendingRequests = new PendingRequests()
  readonly #buckets = new Map<MessageName, TokenBucket>()
  /** Of what only members may say, while it is none. */
  readonly #outside = new TokenBucket(LIMITS.network.outsiders, performance.now())
  /** Messages on their way that count towards the bound for all. */
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

  /** The validator it proved to speak for. */
  get validator(): Hex | null {
    return this.hello.proof?.address ?? null
  }

  get trafficCounters(): TrafficCounters {
    return this.#connection.trafficCounters
  }

  get requests(): number {
    return this.#pendingRequests.size
  }

  queuedBytes(channel: ChannelName): number {
    return this.#connection.queuedBytes(channel)
  }

  send<Name extends MessageName>(name: Name, value: Payload<Name>, requestId = 0): void {
    this.sendWire(name, encodeWireMessage(name, value, requestId))
  }

  sendWire(name: MessageName, message: WireMessage): void {
    this.#host.counted('sent', name)
    this.#connection.send(message)
  }

  /** Rejects with CodedError<RequestError>. */
  async request<Name extends RequestName>(name: Name, value: Payload<Name>): Promise<AnswerName<Name>> {
    const answer = await this.#pendingRequests.ask(name, id => this.send(name, value, id))
    return answer as AnswerName<Name>
  }

  close(reason: DisconnectReason, detail?: string): void {
    this.#connection.close(reason, detail)
  }

  /** To be called now and then. */
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
    // What comes after them cannot be read any more.
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
   * Long messages that nobody asked for share one bound of memory. Who finds it used up is not at fault, and what it offers can be asked
   * for. Members are few and proved who they are: what strangers hold must not keep their blocks out.
   */
  #hasRoom(name: MessageName, head: MessageHead): boolean {
    if (this.place === 'reserved' || ANSWERS.has(name) || head.length <= FRAGMENT_BYTES) return true
    if (!this.#host.partial.take(head.length)) return false
    this.#claims.add(head)
    return true
  }

  #isWanted(name: MessageName, { requestId, length }: MessageHead): boolean {
    if (ANSWERS.has(name)) {
      const expected = this.#pendingRequests.expects(requestId, name)
      if (expected === 'no') this.#host.blame(this, 'useless', `${name} nobody asked for`)
      return expected === 'yes'
    }
    if (isRequest(name) !== requestId > 0) throw broken(`${name} with the request id ${requestId}`)
    // It may take itself for a member when this node, some blocks behind, does not yet: no offence, as long as it is no flood.
    const isOutside = messageSpec(name).from === 'committee' && !this.#host.isNeighbour(this)
    const bucket = isOutside ? this.#outside : this.#bucket(name)
    if (bucket.take(performance.now(), quotaCost(length))) return !isOutside
    this.#host.blame(this, 'flood', name)
    return false
  }

  #bucket(name: MessageName): TokenBucket {
    const bucket = this.#buckets.get(name) ?? new TokenBucket(messageSpec(name).quota, performance.now())
    this.#buckets.set(name, bucket)
    return bucket
  }
}
