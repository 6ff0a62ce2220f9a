import { LIMITS } from '../../config/limits.ts'
import { assert } from '../../util/assert.ts'
import type { Clock } from '../../util/clock.ts'
import type { Logger } from '../../util/logger.ts'
import { addressGroup, isLoopbackAddress } from '../core/address.ts'
import type { NodeAddress } from '../core/dial-scheduler.ts'
import type { Reason } from '../core/disconnect-reasons.ts'
import { keepsFresh } from '../core/duplicate-connections.ts'
import { addressKey, type Standings, validatorKey } from '../core/peer-scores.ts'
import { type Place, type PlaceLimits, placeFor } from '../core/peer-slots.ts'
import type { Identity } from '../identity/identity.ts'
import type { NetworkMetrics } from '../metrics.ts'
import type { MembersPort } from '../ports.ts'
import type { Channel } from '../tls/transport.ts'
import type { Hello } from '../wire/control.ts'
import type { Connection, Ending } from './connection.ts'
import { type HandshakeParams, shakeHands } from './handshake.ts'
import { blamedAddress, type PeerSet } from './peer-set.ts'
import { judgeHello, type Refusal } from './validate-hello.ts'

export interface MeetingsOptions {
  readonly peers: PeerSet
  readonly standings: Standings
  readonly members: MembersPort
  readonly limits: PlaceLimits & HandshakeParams['patience']
  /** Of this node's own validator. */
  readonly validator: string | null
  readonly identity: Identity
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: NetworkMetrics | undefined
  /** A handshake came to nothing; `id` is the other end's, or the one that was dialed. */
  failed(id: string, reason: Reason | 'unreachable'): void
}

/** A connection whose handshake is not over. */
interface Meeting {
  readonly channel: Channel
  readonly dialed: NodeAddress | null
  readonly connection: Connection
  /** Set when its hello was accepted. */
  accepted: { readonly hello: Hello; readonly place: Place } | null
  leave(): void
}

/** Handshakes under way: who is let in, and which of two connections to the same node stays. */
export class Meetings {
  readonly #options: MeetingsOptions
  readonly #open = new Set<Meeting>()

  constructor(options: MeetingsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#open.size
  }

  has(id: string): boolean {
    return [...this.#open].some(({ channel }) => channel.nodeId === id)
  }

  /** `leave` is called once, when the handshake is over. */
  begin(channel: Channel, dialed: NodeAddress | null, leave: () => void): void {
    const connection = shakeHands({
      channel,
      hello: this.#options.identity.hello(channel),
      patience: this.#options.limits,
      judge: remote => this.#judge(meeting, remote),
      ready: (_, remote) => this.#ready(meeting, remote),
      failed: (ending, remote) => this.#failed(meeting, ending, remote),
      faulted: error => this.#options.peers.boundary.tell(channel.nodeId, 'handshake', error),
    })
    const meeting: Meeting = { channel, dialed, connection, accepted: null, leave }
    this.#open.add(meeting)
  }

  close(): void {
    for (const { connection } of this.#open) connection.close('stopping')
  }

  #judge(meeting: Meeting, hello: Hello): Refusal | undefined {
    const { channel, dialed } = meeting
    const { nodeId, binding } = channel
    const scene = { ...this.#options.identity.scene(), nodeId, binding, dialed: dialed?.id ?? null }
    return (
      this.#refuseBanned(channel) ??
      judgeHello(hello, scene) ??
      this.#refuseValidator(hello) ??
      this.#seat(meeting, hello)
    )
  }

  /** One key must not come back from its ban under another node id, nor take every reserved place. */
  #refuseValidator({ nodeId, proof }: Hello): Refusal | undefined {
    const { peers, standings, clock } = this.#options
    if (proof === null) return undefined
    const { address: validator } = proof
    if (standings.isBanned(validatorKey(validator), clock.nowMs()))
      return { reason: 'banned', detail: `${validator} misbehaved before` }
    const connected = peers.peers().map(peer => ({ id: peer.id, key: peer.validator }))
    const coming = [...this.#open].map(({ accepted }) => ({
      id: accepted?.hello.nodeId,
      key: accepted?.hello.proof?.address,
    }))
    const nodes = new Set(
      [...connected, ...coming].filter(({ id, key }) => key === validator && id !== nodeId).map(({ id }) => id),
    )
    return nodes.size < LIMITS.network.perValidator
      ? undefined
      : { reason: 'tooManyPeers', detail: `${nodes.size} other nodes speak for ${validator}` }
  }

  #refuseBanned({ nodeId, socket }: Channel): Refusal | undefined {
    const { standings, clock } = this.#options
    const nowMs = clock.nowMs()
    const group = addressGroup(socket.remoteAddress ?? '')
    const isBanned = standings.isBanned(nodeId, nowMs) || standings.isBanned(addressKey(group), nowMs)
    return isBanned ? { reason: 'banned', detail: 'misbehaved before' } : undefined
  }

  #seat(meeting: Meeting, hello: Hello): Refusal | undefined {
    const { peers, limits } = this.#options
    const address = meeting.channel.socket.remoteAddress ?? ''
    if (!this.#isBetter(meeting, hello)) return { reason: 'duplicate', detail: 'connected already' }
    const counts = { ...peers.counts(hello.nodeId, address) }
    for (const { accepted, channel } of this.#open) {
      if (accepted === null || channel.nodeId === hello.nodeId) continue
      counts[accepted.place]++
      const isNear = addressGroup(channel.socket.remoteAddress ?? '') === addressGroup(address)
      if (accepted.place !== 'reserved' && isNear) counts.sameAddress++
    }
    const candidate = {
      inbound: meeting.dialed === null,
      reserved: peers.isReserved(hello.nodeId, hello.proof?.address ?? null),
      loopback: isLoopbackAddress(address),
    }
    const result = placeFor(candidate, counts, limits)
    if ('refused' in result) return { reason: result.refused, detail: `${counts.inbound} in, ${counts.outbound} out` }
    meeting.accepted = { hello, place: result.place }
    return undefined
  }

  /** Whether this connection stays beside another one to the same node; one under way that does not is closed here. */
  #isBetter(meeting: Meeting, hello: Hello): boolean {
    const { peers, identity } = this.#options
    const ids = { self: identity.id, peer: hello.nodeId }
    const fresh = { inbound: meeting.dialed === null, instance: hello.instance }
    const peer = peers.peer(hello.nodeId)
    if (peer !== undefined && !keepsFresh(ids, { inbound: peer.inbound, instance: peer.hello.instance }, fresh)) {
      return false
    }
    for (const { dialed, accepted, connection } of this.#open) {
      if (accepted?.hello.nodeId !== hello.nodeId) continue
      const old = { inbound: dialed === null, instance: accepted.hello.instance }
      if (!keepsFresh(ids, old, fresh)) return false
      connection.close('duplicate')
    }
    return true
  }

  #ready(meeting: Meeting, hello: Hello): void {
    const { peers, members, validator, logger, metrics } = this.#options
    const { channel, connection, dialed, accepted } = meeting
    this.#open.delete(meeting)
    meeting.leave()
    assert(accepted !== null, 'a node that was refused is not connected')
    metrics?.connection(dialed === null ? 'inbound' : 'outbound', 'connected')
    peers.peer(hello.nodeId)?.close('duplicate', 'another connection stays')
    peers.add({
      connection,
      hello,
      inbound: dialed === null,
      remoteAddress: channel.socket.remoteAddress ?? '',
      localAddress: channel.socket.localAddress ?? '',
      place: accepted.place,
    })
    if (validator !== null && hello.proof?.address === validator) {
      logger.error({ peer: hello.nodeId, validator }, "another node holds this node's validator key")
      members.onKeyInUse?.(hello.nodeId)
    }
  }

  #failed(meeting: Meeting, ending: Ending, hello: Hello | null): void {
    const { standings, clock, logger, metrics, failed } = this.#options
    const { channel, dialed } = meeting
    this.#open.delete(meeting)
    meeting.leave()
    const { reason, remote } = ending
    const address = channel.socket.remoteAddress ?? ''
    const direction = dialed === null ? 'inbound' : 'outbound'
    metrics?.connection(direction, reason ?? 'closed')
    const isOffence = !remote && (reason === 'malformed' || reason === 'badProof')
    if (isOffence) {
      metrics?.offence(reason)
      metrics?.banned()
      const blamed = { id: channel.nodeId, address: blamedAddress(address), validator: null, isReserved: false }
      standings.blame(blamed, reason, clock.nowMs())
    }
    const fields = { peer: channel.nodeId, address, direction, ...ending, ...(hello && { client: hello.client }) }
    logger[isOffence ? 'warn' : 'info'](fields, 'peer refused')
    failed(dialed?.id ?? channel.nodeId, reason ?? 'unreachable')
  }
}
