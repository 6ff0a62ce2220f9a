import { isLoopbackAddress } from '@tandem/base/address.ts'
import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { NETWORK_LIMITS } from '../config/limits/network.ts'
import type { NetworkSizes } from './core/metrics.ts'
import { createBlockGossip } from './gossip/block-gossip.ts'
import { ConsensusGossip } from './gossip/consensus-gossip.ts'
import { Delegations } from './gossip/delegations.ts'
import { createFlood } from './gossip/flood.ts'
import { PeerExchange } from './gossip/peer-exchange.ts'
import { createRequestServer } from './gossip/request-server.ts'
import { TransactionGossip } from './gossip/transaction-gossip.ts'
import type { NetworkOptions } from './identity/options.ts'
import type { Ping } from './messages/control-messages.ts'
import { type ANSWER_NAMES, isRequest, type MessageName, type Payload, type RequestName } from './messages/messages.ts'
import type { NetworkPorts } from './messages/ports.ts'
import { createDialer } from './peer/dialer.ts'
import { HandshakeManager } from './peer/handshake-manager.ts'
import { startHeartbeat } from './peer/heartbeat.ts'
import { createNetworkCore, type NetworkCore } from './peer/network-core.ts'
import type { Peer } from './peer/peer.ts'
import { PeerSet, type PeerSetEvents } from './peer/peer-set.ts'
import { createPeerRequest } from './peer/requester.ts'

/** Handlers of joining and leaving peers, and of the tick each second. */
interface NetworkEvents extends Pick<PeerSetEvents, 'joined' | 'left'> {
  tick(): void
}

/** Parts of a network, constructed but not started. */
export type NetworkParts = ReturnType<typeof assembleNetwork>

export const assembleNetwork = (options: NetworkOptions, ports: NetworkPorts, events: NetworkEvents) => {
  const core = createNetworkCore(options, ports, {
    isMember: id => gossip.records.isMember(id),
    records: { isTried: id => gossip.records.book.isTried(id), remove: id => gossip.records.book.remove(id) },
    sizes: () => countSizes(peers, ports, handshakes.size, gossip.records.book.size),
  })
  const peers = new PeerSet(core, {
    joined: events.joined,
    left: events.left,
    received: (...message) => dispatch(...message),
    isOfUse: (peer, name) =>
      (name !== 'transactionHashes' && name !== 'newTransactions') || gossip.transactions.isOpenTo(peer, name),
  })
  const gossip = buildGossip(options, ports, core, peers)
  const dispatch = createDispatcher(gossip)
  const handshakes = new HandshakeManager({
    ...core,
    peers,
    records: {
      forRefused: ({ nodeId }) => gossip.records.answer({ id: nodeId }, core.identity.published),
      heard: (remoteAddress, told) => {
        if (core.discovers) gossip.records.heardFrom(remoteAddress, told)
      },
    },
  })
  const dialer = createDialer({ ...core, peers, handshakes })
  const heartbeat = () => startHeartbeat({ ...core, peers, heard: gossip.heard, tick: events.tick })
  return { ...core, peers, ...gossip, handshakes, dialer, heartbeat, request: createPeerRequest(peers, core.metrics) }
}

/** Messages between connected peers. */
const buildGossip = (
  { advertise, listen, staticPeers, bootnodes }: NetworkOptions,
  { blocks: codec, pool, sync, serve }: NetworkPorts,
  { identity, dialScheduler, validator, relays, chain, members }: NetworkCore,
  hub: PeerSet,
) => {
  const { domain, id: selfId } = identity
  const records = new PeerExchange({
    hub,
    dialScheduler,
    domain,
    selfId,
    acceptsLoopback: isLoopbackAddress(advertise?.host ?? listen?.host ?? ''),
    lowPorts: new Set([advertise, listen, ...(staticPeers ?? []), ...(bootnodes ?? [])].flatMap(at => at?.port ?? [])),
    isMember: address => members.isMember(address),
  })
  const consensus = new ConsensusGossip({ hub, blocks: codec, members, self: validator?.address ?? null })
  const head = () => chain.head().number
  const delegations = new Delegations({ hub, domain, selfId, signer: validator, relays, head })
  const transactions = new TransactionGossip(hub, pool)
  const blocks = createBlockGossip(hub, sync)
  const evidence = createFlood(hub, 'evidence')
  const proofs = createFlood(hub, 'proofHeader')
  const heard = (peer: Peer, { head, earliest }: Ping): void => {
    peer.earliest = earliest
    blocks.headMoved(peer, head)
  }
  const { answerBytes } = NETWORK_LIMITS
  const serveRequest = createRequestServer(hub, {
    getBlocks: (_, range) => serve.blocks(range, answerBytes),
    getReceipts: (_, hashes) => serve.receipts(hashes, answerBytes),
    getManifest: () => serve.manifest?.() ?? null,
    getChunk: async (_, { snapshot, index }) => (await serve.chunk?.(snapshot, index)) ?? EMPTY_BYTES,
    getCodes: async (_, hashes) => (await serve.codes?.(hashes, answerBytes)) ?? [],
    ping: (peer, ping) => {
      heard(peer, ping)
      return identity.ping()
    },
    getRecords: peer => records.answer(peer, identity.published),
    getTransactions: (peer, hashes) => transactions.answer(peer, hashes),
  })
  return { records, consensus, delegations, transactions, blocks, evidence, proofs, heard, serveRequest }
}

/** Messages of the handshake, and responses, are handled before they reach the dispatcher. */
type Unanswered = Exclude<
  MessageName,
  RequestName | (typeof ANSWER_NAMES)[RequestName] | 'hello' | 'ready' | 'disconnect'
>
type Handlers = { readonly [Name in Unanswered]: (peer: Peer, value: Payload<Name>) => unknown }

/** Creates the handlers of messages; their results may be promises. */
const createDispatcher = (gossip: ReturnType<typeof buildGossip>) => {
  const { blocks, consensus, delegations, evidence, proofs, transactions, serveRequest } = gossip
  const handlers: Handlers = {
    delegation: (peer, proof) => {
      delegations.received(peer, proof)
      consensus.joined(peer)
    },
    links: (peer, validators) => consensus.receivedLinks(peer, validators),
    vote: (peer, vote) => consensus.received(peer, vote),
    status: (peer, statusMessage) => consensus.received(peer, statusMessage),
    proposal: (peer, proposal) => consensus.receivedProposal(peer, proposal),
    body: (peer, block) => consensus.receivedBody(peer, block),
    decided: (peer, decided) => consensus.receivedDecided(peer, decided),
    newBlockHash: (peer, announcement) => blocks.announced(peer, announcement),
    newBlock: (peer, block) => blocks.pushed(peer, block),
    evidence: (peer, bytes) => evidence.received(peer, bytes),
    proofHeader: (peer, bytes) => proofs.received(peer, bytes),
    transactionHashes: (peer, hashes) => transactions.announced(peer, hashes),
    newTransactions: (peer, raws) => transactions.pushed(peer, raws),
  }
  return (peer: Peer, name: MessageName, value: unknown, requestId: number): unknown => {
    if (isRequest(name)) return serveRequest(peer, name, value, requestId)
    return (handlers[name as Unanswered] as (peer: Peer, value: unknown) => unknown)(peer, value)
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
