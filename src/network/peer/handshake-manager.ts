import { addressGroup, isLoopbackAddress } from '@tandem/base/address.ts'
import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import type { NodeAddress } from '../core/dial-scheduler.ts'
import { keepsNewConnection } from '../core/duplicate-connections.ts'
import { addressScoreKey, validatorKey } from '../core/peer-scores.ts'
import { assignSlot, type PeerSlot } from '../core/peer-slots.ts'
import type { HelloRefusal } from '../identity/identity.ts'
import type { Hello } from '../messages/control-messages.ts'
import type { SecureChannel } from '../transport/secure-channel.ts'
import type { Connection, ConnectionEnd } from './connection.ts'
import { type HandshakeParams, performHandshake } from './handshake.ts'
import type { NetworkCore } from './network-core.ts'
import { type PeerSet, penalizedAddress } from './peer-set.ts'

interface HandshakeManagerOptions extends NetworkCore {
  readonly peers: PeerSet
  /** Records for nodes that find no place here, and those of nodes that had none. */
  readonly records: HandshakeParams['records']
}

/** A connection during its handshake. */
interface OpenHandshake {
  readonly secureChannel: SecureChannel
  readonly dialed: NodeAddress | null
  readonly connection: Connection
  /** Set when its hello was accepted. */
  accepted: { readonly hello: Hello; readonly place: PeerSlot } | null
  leave(): void
}

/** Handshakes under way: decides which nodes are admitted, and which of two connections to the same node stays. */
export class HandshakeManager {
  readonly #options: HandshakeManagerOptions
  readonly #open = new Set<OpenHandshake>()
  /** Genesis hash of the last dialed node that was refused for it; null: none since a peer was connected. */
  foreignGenesis: Hex | null = null
  #warnedMs = Number.NEGATIVE_INFINITY

  constructor(options: HandshakeManagerOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#open.size
  }

  has(id: string): boolean {
    return [...this.#open].some(({ secureChannel }) => secureChannel.nodeId === id)
  }

  /** `leave` is called once, when the handshake is over. */
  begin(secureChannel: SecureChannel, dialed: NodeAddress | null, leave: () => void): void {
    const connection = performHandshake({
      secureChannel,
      hello: this.#options.identity.hello(secureChannel, dialed?.id),
      patience: this.#options.limits,
      isDialed: dialed !== null,
      validate: remote => this.#validate(handshake, remote),
      records: this.#options.records,
      ready: (_, remote) => this.#ready(handshake, remote),
      failed: (connectionEnd, remote) => this.#failed(handshake, connectionEnd, remote),
      faulted: error => this.#options.peers.boundary.report(secureChannel.nodeId, 'handshake', error),
    })
    const handshake: OpenHandshake = { secureChannel, dialed, connection, accepted: null, leave }
    this.#open.add(handshake)
  }

  close(): void {
    for (const { connection } of this.#open) connection.close('stopping')
  }

  #validate(handshake: OpenHandshake, hello: Hello): HelloRefusal | undefined {
    const { secureChannel, dialed } = handshake
    return (
      this.#refuseBanned(secureChannel.nodeId) ??
      this.#options.identity.validateHello(hello, secureChannel, dialed?.id ?? null) ??
      this.#refuseValidator(hello) ??
      this.#refuseAddress(handshake, hello) ??
      this.#admit(handshake, hello)
    )
  }

  /** Prevents a banned key from returning under the id of a node that is not static, and one key from taking every reserved slot. */
  #refuseValidator({ nodeId, proof }: Hello): HelloRefusal | undefined {
    const { peers, scores, clock } = this.#options
    if (proof === null) return undefined
    const { address: validator } = proof
    if (!peers.isStatic(nodeId) && scores.isBanned(validatorKey(validator), clock.nowMs()))
      return { reason: 'banned', detail: `${validator} misbehaved before` }
    const connected = peers.peers().map(peer => ({ id: peer.id, key: peer.validator }))
    const coming = [...this.#open].map(({ accepted }) => ({
      id: accepted?.hello.nodeId,
      key: accepted?.hello.proof?.address,
    }))
    const nodes = new Set(
      [...connected, ...coming].filter(({ id, key }) => key === validator && id !== nodeId).map(({ id }) => id),
    )
    return nodes.size < NETWORK_LIMITS.perValidator
      ? undefined
      : { reason: 'tooManyPeers', detail: `${nodes.size} other nodes speak for ${validator}` }
  }

  #refuseBanned(nodeId: string): HelloRefusal | undefined {
    const { scores, clock } = this.#options
    return scores.isBanned(nodeId, clock.nowMs()) ? { reason: 'banned', detail: 'misbehaved before' } : undefined
  }

  /** Refuses strangers of an address from which several were banned; members, static peers and dialed nodes may be behind it as well. */
  #refuseAddress({ secureChannel, dialed }: OpenHandshake, { nodeId, proof }: Hello): HelloRefusal | undefined {
    const { peers, scores, clock } = this.#options
    if (dialed !== null || peers.isReserved(nodeId, proof?.address ?? null)) return undefined
    const group = addressGroup(secureChannel.socket.remoteAddress ?? '')
    const isBanned = scores.isBanned(addressScoreKey(group), clock.nowMs())
    return isBanned ? { reason: 'banned', detail: 'others of its address misbehaved before' } : undefined
  }

  #admit(handshake: OpenHandshake, hello: Hello): HelloRefusal | undefined {
    const { peers, limits } = this.#options
    const address = handshake.secureChannel.socket.remoteAddress ?? ''
    if (!this.#isBetter(handshake, hello)) return { reason: 'duplicate', detail: 'connected already' }
    const counts = { ...peers.counts(hello.nodeId, address) }
    const coming: Parameters<PeerSet['makeRoom']>[1][number][] = []
    for (const { accepted, connection, secureChannel } of this.#open) {
      if (accepted === null || secureChannel.nodeId === hello.nodeId) continue
      counts[accepted.place]++
      const remoteAddress = secureChannel.socket.remoteAddress ?? ''
      if (accepted.place === 'inbound')
        coming.push({ id: secureChannel.nodeId, remoteAddress, close: (...reason) => connection.close(...reason) })
      const isNear = addressGroup(secureChannel.socket.remoteAddress ?? '') === addressGroup(address)
      if (accepted.place !== 'reserved' && isNear) counts.sameAddress++
    }
    const candidate = {
      inbound: handshake.dialed === null,
      reserved: peers.isReserved(hello.nodeId, hello.proof?.address ?? null),
      loopback: isLoopbackAddress(address),
    }
    const result = assignSlot(candidate, counts, limits)
    const makesRoom = 'refused' in result && result.refused === 'tooManyPeers' && candidate.inbound
    if (makesRoom && peers.makeRoom(address, coming)) handshake.accepted = { hello, place: 'inbound' }
    else if ('refused' in result)
      return { reason: result.refused, detail: `${counts.inbound} in, ${counts.outbound} out` }
    else handshake.accepted = { hello, place: result.place }
    return undefined
  }

  /** Decides whether this connection stays when there is another one to the same node; the losing handshake is closed here. */
  #isBetter(handshake: OpenHandshake, hello: Hello): boolean {
    const { peers, identity } = this.#options
    const ids = { self: identity.id, peer: hello.nodeId }
    const fresh = { inbound: handshake.dialed === null, instance: hello.instance }
    const peer = peers.peer(hello.nodeId)
    if (
      peer !== undefined &&
      !keepsNewConnection(ids, { inbound: peer.inbound, instance: peer.hello.instance }, fresh)
    ) {
      return false
    }
    for (const { dialed, accepted, connection } of this.#open) {
      if (accepted?.hello.nodeId !== hello.nodeId) continue
      const old = { inbound: dialed === null, instance: accepted.hello.instance }
      if (!keepsNewConnection(ids, old, fresh)) return false
      connection.close('duplicate')
    }
    return true
  }

  #ready(handshake: OpenHandshake, hello: Hello): void {
    const { peers, members, validator, logger, metrics } = this.#options
    const { secureChannel, connection, dialed, accepted } = handshake
    this.#open.delete(handshake)
    handshake.leave()
    this.foreignGenesis = null
    assert(accepted !== null, 'a node that was refused is not connected')
    metrics?.connections.inc({ direction: dialed === null ? 'inbound' : 'outbound', result: 'connected' })
    peers.peer(hello.nodeId)?.close('duplicate', 'another connection stays')
    peers.add({
      connection,
      hello,
      inbound: dialed === null,
      remoteAddress: secureChannel.socket.remoteAddress ?? '',
      localAddress: secureChannel.socket.localAddress ?? '',
      place: accepted.place,
    })
    if (validator !== null && hello.proof?.address === validator.address) {
      logger.error({ peer: hello.nodeId, validator: validator.address }, "another node holds this node's validator key")
      members.onKeyInUse?.(hello.nodeId)
    }
  }

  #failed(handshake: OpenHandshake, connectionEnd: ConnectionEnd, hello: Hello | null): void {
    const { peers, scores, clock, logger, metrics, dialScheduler, random } = this.#options
    const { secureChannel, dialed } = handshake
    this.#open.delete(handshake)
    handshake.leave()
    const { reason, remote } = connectionEnd
    const address = secureChannel.socket.remoteAddress ?? ''
    const direction = dialed === null ? 'inbound' : 'outbound'
    metrics?.connections.inc({ direction, result: reason ?? 'closed' })
    const isOffence = !remote && (reason === 'malformed' || reason === 'badProof')
    if (isOffence) {
      metrics?.offences.inc({ offence: reason })
      metrics?.bans.inc()
      // The proof of an accepted hello was verified.
      const validator = handshake.accepted?.hello.proof?.address ?? null
      const isReserved = peers.isReserved(secureChannel.nodeId, validator)
      const blamed = { id: secureChannel.nodeId, address: penalizedAddress(address), validator, isReserved }
      scores.blame(blamed, reason, clock.nowMs())
    }
    const fields = {
      peer: secureChannel.nodeId,
      address,
      direction,
      ...connectionEnd,
      ...(hello && { client: hello.client }),
    }
    if (reason === 'wrongGenesis') this.#onForeignGenesis(handshake, hello)
    // A node meets itself at each address that its list or another node's records give for it: nothing to act on.
    if (reason === 'self') logger.debug(fields, 'peer refused')
    else if (dialed === null) peers.strangerLog.log(isOffence ? 'warn' : 'info', fields, 'peer refused')
    else logger[isOffence ? 'warn' : 'info'](fields, 'peer refused')
    const id = dialed?.id ?? secureChannel.nodeId
    // Another node that answers at an address has no say on whether the dialed one is dialed again.
    const cause = id === secureChannel.nodeId ? (reason ?? 'unreachable') : 'wrongIdentity'
    dialScheduler.failed(id, cause, performance.now(), random())
  }

  /** Warns once a minute: strangers of another chain may come often. */
  #onForeignGenesis({ secureChannel, dialed }: OpenHandshake, hello: Hello | null): void {
    const { clock, logger, identity } = this.#options
    const own = identity.domain.genesisHash
    const found = hello?.genesisHash
    if (found === undefined || found === own) return
    if (dialed !== null) this.foreignGenesis = found
    const nowMs = clock.nowMs()
    if (nowMs - this.#warnedMs < NETWORK_LIMITS.genesisWarningMs) return
    this.#warnedMs = nowMs
    logger.warn(
      { peer: secureChannel.nodeId, address: secureChannel.socket.remoteAddress, genesis: own, theirs: found },
      'a node of another chain: the genesis hashes differ, so one of the two has the wrong --genesis file',
    )
  }
}
