import { NETWORK_LIMITS } from '../config/limits/network.ts'
import { isLoopbackAddress } from './core/address.ts'
import { DialScheduler } from './core/dial-scheduler.ts'
import { PeerScores } from './core/peer-scores.ts'
import { BlockGossip } from './gossip/block-gossip.ts'
import { ConsensusGossip } from './gossip/consensus-gossip.ts'
import { createDispatcher } from './gossip/dispatcher.ts'
import { EvidenceGossip } from './gossip/evidence-gossip.ts'
import { PeerExchange } from './gossip/peer-exchange.ts'
import { ProofGossip } from './gossip/proof-gossip.ts'
import { RequestServer, storeRequestHandlers } from './gossip/request-server.ts'
import { TransactionGossip } from './gossip/transaction-gossip.ts'
import { Identity } from './identity/identity.ts'
import { createNetworkMetrics } from './metrics.ts'
import type { NetworkOptions } from './options.ts'
import { Dialer } from './peer/dialer.ts'
import { HandshakeManager } from './peer/handshake-manager.ts'
import { Heartbeat } from './peer/heartbeat.ts'
import { PeerSet, type PeerSetEvents } from './peer/peer-set.ts'
import { Requester } from './peer/requester.ts'
import type { NetworkPorts } from './ports.ts'
import { secureOptions } from './tls/transport.ts'

/** Handlers of joining and leaving peers, and of the tick each second. */
export interface NetworkEvents extends Pick<PeerSetEvents, 'joined' | 'left'> {
  tick(): void
}

/** Parts of a network, constructed but not started. */
export type NetworkParts = ReturnType<typeof assembleNetwork>

export const assembleNetwork = (options: NetworkOptions, ports: NetworkPorts, events: NetworkEvents) => {
  const { clock, logger, nodeKey, validator, random = Math.random } = options
  const { members, blocks: codec, pool, sync, serve } = ports
  const limits = { ...NETWORK_LIMITS, ...options.limits }
  const secure = secureOptions(nodeKey)
  const statics = new Set(options.staticPeers?.map(({ id }) => id))
  const identity = new Identity(options, ports.chain)
  const scores = new PeerScores({ ...limits, entries: limits.standings })
  const dialScheduler = new DialScheduler({ ...limits, entries: limits.records + limits.staticPeers }, id =>
    isMember(id),
  )
  const metrics = options.metrics && createNetworkMetrics(options.metrics, () => sizes())

  const peers = new PeerSet(
    {
      members,
      scores,
      relays: new Set(options.relays),
      statics,
      reserved: limits.reserved,
      clock,
      logger,
      metrics,
      random,
    },
    {
      joined: events.joined,
      left: events.left,
      received: (...message) => dispatch(...message),
      isOfUse: (peer, name) => name !== 'transactionHashes' || transactions.isOpenTo(peer),
    },
  )
  const hub = peers
  const records = new PeerExchange({
    hub,
    dialScheduler,
    domain: identity.domain,
    selfId: identity.id,
    clock,
    acceptsLoopback: isLoopbackAddress(options.advertise?.host ?? options.listen?.host ?? ''),
  })
  const consensus = new ConsensusGossip({ hub, blocks: codec, members, self: validator?.address ?? null })
  const transactions = new TransactionGossip(hub, pool)
  const blocks = new BlockGossip(hub, sync)
  const evidence = new EvidenceGossip(hub)
  const proofs = new ProofGossip(hub)
  const requestServer = new RequestServer({
    ...storeRequestHandlers(serve),
    ping: (peer, { head, earliest }) => {
      peer.earliest = earliest
      blocks.headMoved(peer, head)
      return identity.ping()
    },
    getRecords: peer => records.answer(peer, identity.published),
    getTransactions: (peer, hashes) => transactions.answer(peer, hashes),
  })
  const dispatch = createDispatcher({ requestServer, blocks, consensus, evidence, proofs, transactions })

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
    failed: (id, reason) => dialScheduler.failed(id, reason, clock.nowMs(), random()),
  })
  const isMember = (id: string): boolean => {
    const claimed = records.validatorOf(id)
    return claimed !== null && members.isMember(claimed)
  }
  const dialer = new Dialer({ dialScheduler, peers, handshakes, scores, secure, clock, logger, random })
  const heartbeat = new Heartbeat({
    peers,
    metrics,
    own: () => identity.ping(),
    heard: (peer, { head, earliest }) => {
      peer.earliest = earliest
      blocks.headMoved(peer, head)
    },
    tick: events.tick,
  })
  const requester = new Requester(hub, metrics)

  const sizes = () => ({
    inbound: peers.peers().filter(({ inbound }) => inbound).length,
    outbound: peers.peers().filter(({ inbound }) => !inbound).length,
    validators: peers.peers().filter(peer => peer.validator !== null && members.isMember(peer.validator)).length,
    pending: handshakes.size,
    known: records.size,
  })
  return {
    limits,
    secure,
    statics,
    identity,
    scores,
    dialScheduler,
    peers,
    records,
    consensus,
    transactions,
    blocks,
    evidence,
    proofs,
    handshakes,
    dialer,
    heartbeat,
    requester,
    random,
  }
}
