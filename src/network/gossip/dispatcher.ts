import { type ANSWER_NAMES, isRequest, type MessageName, type Payload, type RequestName } from '../messages/messages.ts'
import type { Peer } from '../peer/peer.ts'
import type { BlockGossip } from './block-gossip.ts'
import type { ConsensusGossip } from './consensus-gossip.ts'
import type { Delegations } from './delegations.ts'
import type { EvidenceGossip, ProofGossip } from './flood.ts'
import type { RequestServer } from './request-server.ts'
import type { TransactionGossip } from './transaction-gossip.ts'

interface GossipHandlers {
  readonly requestServer: RequestServer
  readonly blocks: BlockGossip
  readonly consensus: ConsensusGossip
  readonly delegations: Delegations
  readonly evidence: EvidenceGossip
  readonly proofs: ProofGossip
  readonly transactions: TransactionGossip
}

/** Messages of the handshake, and responses, are handled before they reach the dispatcher. */
type Unanswered = Exclude<
  MessageName,
  RequestName | (typeof ANSWER_NAMES)[RequestName] | 'hello' | 'ready' | 'disconnect'
>
type Handlers = { readonly [Name in Unanswered]: (peer: Peer, value: Payload<Name>) => unknown }

/** Creates the handlers of messages; their results may be promises. */
export const createDispatcher = (gossip: GossipHandlers) => {
  const { blocks, consensus, delegations, evidence, proofs, transactions } = gossip
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
    if (isRequest(name)) return gossip.requestServer.received(peer, name, value, requestId)
    return (handlers[name as Unanswered] as (peer: Peer, value: unknown) => unknown)(peer, value)
  }
}
