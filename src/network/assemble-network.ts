import { isLoopbackAddress } from '@tandem/base/address.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { NETWORK_LIMITS } from '../config/limits/network.ts'
import { COUNCIL_BOUNDS } from '../config/protocol-bounds.ts'
import { DialScheduler } from './core/dial-scheduler.ts'
import { createNetworkMetrics, type NetworkSizes } from './core/metrics.ts'
import { PeerScores } from './core/peer-scores.ts'
import { BlockGossip } from './gossip/block-gossip.ts'
import { ConsensusGossip } from './gossip/consensus-gossip.ts'
import { Delegations } from './gossip/delegations.ts'
import { createDispatcher } from './gossip/dispatcher.ts'
import { EvidenceGossip, ProofGossip } from './gossip/flood.ts'
import { PeerExchange } from './gossip/peer-exchange.ts'
import { RequestServer, storeRequestHandlers } from './gossip/request-server.ts'
import { TransactionGossip } from './gossip/transaction-gossip.ts'
import { Identity } from './identity/identity.ts'
import type { NetworkOptions } from './identity/options.ts'
import type { NetworkPorts } from './messages/ports.ts'
import { Dialer } from './peer/dialer.ts'
import { HandshakeManager } from './peer/handshake-manager.ts'
import { Heartbeat } from './peer/heartbeat.ts'
import { PeerSet, type PeerSetEvents } from './peer/peer-set.ts'
import { Requester } from './peer/requester.ts'

/** Handlers of joining and leaving peers, and of the tick each second. */
interface NetworkEvents extends Pick<PeerSetEvents, 'joined' | 'left'> {
  tick(): void
}

/** Records in all buckets, and those of members beside them. */
const MOST_RECORDS =
  (NETWORK_LIMITS.newBuckets + NETWORK_LIMITS.triedBuckets) * NETWORK_LIMITS.bucketRecords +
  NETWORK_LIMITS.recordsPerValidator * COUNCIL_BOUNDS.members

/** Parts of a network, constructed but not started. */
export type NetworkParts = ReturnType<typeof assembleNetwork>

export const assembleNetwork = (options: NetworkOptions, ports: NetworkPorts, events: NetworkEvents) => {
  const core = buildCore(options, ports, {
    isMember: id => gossip.records.isMember(id),
    records: { isTried: id => gossip.records.isTried(id), forget: id => gossip.records.forget(id) },
    sizes: () => countSizes(peers, ports, connections.handshakes.size, gossip.records.size),
  })
  const peers = buildPeers(options, ports, core, {
    joined: events.joined,
    left: events.left,
    received: (...message) => gossip.dispatch(...message),
    isOfUse: (peer, name) =>
      (name !== 'transactionHashes' && name !== 'newTransactions') || gossip.transactions.isOpenTo(peer, name),
  })
  const gossip = buildGossip(options, ports, core, peers)
  const connections = buildConnections(options, ports, core, peers, gossip.records)
  const heartbeat = new Heartbeat({
    peers,
    metrics: core.metrics,
    own: () => core.identity.ping(),
    heard: (peer, { head, earliest }) => {
      peer.earliest = earliest
      gossip.blocks.headMoved(peer, head)
    },
    tick: events.tick,
  })
  return { ...core, peers, ...gossip, ...connections, heartbeat, requester: new Requester(peers, core.metrics) }
}

/** Functions of later layers that the core calls once the network runs. */
interface CoreCallbacks {
  /** Returns true when a node claims to represent a committee member. */
  isMember(id: string): boolean
  readonly records: ConstructorParameters<typeof DialScheduler>[2]
  sizes(): NetworkSizes
}

/** Parts that need no peers: limits, identity, scores and the dial scheduler. */
type NetworkCore = ReturnType<typeof buildCore>

/** Time of scores and bans: the wall clock at the start, and from then on one that nobody sets. */
const steadyTime = (clock: Clock): Pick<Clock, 'nowMs'> => {
  const startMs = clock.nowMs() - performance.now()
  return { nowMs: () => startMs + performance.now() }
}

const buildCore = (options: NetworkOptions, ports: NetworkPorts, { isMember, records, sizes }: CoreCallbacks) => {
  const limits = { ...NETWORK_LIMITS, ...options.limits }
  const statics = new Set(options.staticPeers?.map(({ id }) => id))
  return {
    limits,
    statics,
    random: options.random ?? Math.random,
    time: steadyTime(options.clock),
    channelIdentity: { key: options.nodeKey, domain: { chainId: options.chainId, genesisHash: options.genesisHash } },
    identity: new Identity(options, ports.chain, statics),
    scores: new PeerScores({ ...limits, entries: limits.peerScores }),
    dialScheduler: new DialScheduler({ ...limits, entries: MOST_RECORDS + limits.staticPeers }, isMember, records),
    metrics: options.metrics && createNetworkMetrics(options.metrics, sizes),
  }
}

const buildPeers = (
  { relays, logger }: NetworkOptions,
  { members, chain }: NetworkPorts,
  { scores, statics, limits: { reserved }, metrics, random, time: clock }: NetworkCore,
  events: PeerSetEvents,
): PeerSet =>
  new PeerSet(
    { members, chain, scores, relays: new Set(relays), statics, reserved, clock, logger, metrics, random },
    events,
  )

/** Messages between connected peers, and the dispatcher that hands them out. */
const buildGossip = (
  { advertise, listen, staticPeers, bootnodes, validator, relays }: NetworkOptions,
  { chain, members, blocks: codec, pool, sync, serve }: NetworkPorts,
  { identity, dialScheduler }: NetworkCore,
  hub: PeerSet,
) => {
  const records = new PeerExchange({
    hub,
    dialScheduler,
    domain: identity.domain,
    selfId: identity.id,
    acceptsLoopback: isLoopbackAddress(advertise?.host ?? listen?.host ?? ''),
    lowPorts: new Set([advertise, listen, ...(staticPeers ?? []), ...(bootnodes ?? [])].flatMap(at => at?.port ?? [])),
    isMember: validator => members.isMember(validator),
  })
  const consensus = new ConsensusGossip({ hub, blocks: codec, members, self: validator?.address ?? null })
  const delegations = new Delegations({
    hub,
    domain: identity.domain,
    selfId: identity.id,
    signer: validator,
    relays: new Set(relays),
    head: () => chain.head().number,
  })
  const transactions = new TransactionGossip(hub, pool)
  const blocks = new BlockGossip(hub, sync)
  const evidence = new EvidenceGossip(hub, 'evidence')
  const proofs = new ProofGossip(hub, 'proofHeader')
  const requestServer = new RequestServer(hub, {
    ...storeRequestHandlers(serve),
    ping: (peer, { head, earliest }) => {
      peer.earliest = earliest
      blocks.headMoved(peer, head)
      return identity.ping()
    },
    getRecords: peer => records.answer(peer, identity.published),
    getTransactions: (peer, hashes) => transactions.answer(peer, hashes),
  })
  const dispatch = createDispatcher({ requestServer, blocks, consensus, delegations, evidence, proofs, transactions })
  return { records, consensus, delegations, transactions, blocks, evidence, proofs, dispatch }
}

/** Making of connections: handshakes and the dialer. */
const buildConnections = (
  { logger, validator, discovers = true }: NetworkOptions,
  { members }: NetworkPorts,
  { limits, identity, scores, dialScheduler, channelIdentity, metrics, random, time: clock }: NetworkCore,
  peers: PeerSet,
  records: PeerExchange,
) => {
  const handshakes = new HandshakeManager({
    peers,
    scores,
    members,
    limits,
    identity,
    validator: validator?.address ?? null,
    clock,
    logger,
    metrics,
    records: {
      forRefused: ({ nodeId }) => records.answer({ id: nodeId }, identity.published),
      heard: (remoteAddress, told) => {
        if (discovers) records.heardFrom(remoteAddress, told)
      },
    },
    failed: (id, reason) => dialScheduler.failed(id, reason, performance.now(), random()),
  })
  return {
    handshakes,
    dialer: new Dialer({ dialScheduler, peers, handshakes, scores, channelIdentity, clock, logger, random }),
  }
}

const countSizes = (peerSet: PeerSet, { members }: NetworkPorts, pending: number, known: number): NetworkSizes => {
  const peers = peerSet.peers()
  return {
    inbound: peers.filter(({ inbound }) => inbound).length,
    outbound: peers.filter(({ inbound }) => !inbound).length,
    validators: peers.filter(peer => peer.validator !== null && members.isMember(peer.validator)).length,
    pending,
    known,
  }
}
