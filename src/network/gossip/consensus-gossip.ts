import { asBuffer, type Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { Lru } from '@tandem/base/lru.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { BLOCK_BOUNDS, COUNCIL_BOUNDS } from '../../config/protocol-bounds.ts'
import { sha256 } from '../../crypto/sha256.ts'
import { type Block, type BlockCodec, decodeBlockHeader } from '../../primitives/block.ts'
import type { BlockClaim, ConsensusMessage, MessageAcceptance } from '../../primitives/consensus/message.ts'
import { proposalHead } from '../../primitives/consensus/proposal.ts'
import type { PeerId } from '../../primitives/peer-id.ts'
import { type ConsensusPeers, Reachability } from '../core/reachability.ts'
import type { SealedBlock, WireProposal } from '../messages/consensus-messages.ts'
import type { MembersPort } from '../messages/ports.ts'
import { encodeWireMessage, type Peer } from '../peer/peer.ts'
import type { PeerSet } from '../peer/peer-set.ts'
import type { WireMessage } from '../wire/frames.ts'

// biome-ignore lint/suspicious/noConfusingVoidType: a listener may return nothing.
type Listener = (message: ConsensusMessage, from: PeerId) => MessageAcceptance | void
type ClaimListener = (claim: BlockClaim, from: PeerId) => MessageAcceptance

interface ConsensusGossipOptions {
  readonly hub: PeerSet
  readonly blocks: BlockCodec
  readonly members: MembersPort
  /** Validator of this node; null: it follows or relays. */
  readonly self: Hex | null
}

/** Names of messages on the wire; a vote's type is inside. */
type WireName = 'vote' | 'status' | 'proposal' | 'body' | 'decided'

const headerOf = (block: Uint8Array) => decodeBlockHeader(block, BLOCK_BOUNDS.headerBytes)

/**
 * Consensus messages, to every neighbour. Verified statements of a member are relayed to neighbours that it does not reach. The claim beside
 * a block (its signature or seals) is checked first, then the header must match the claim, and only then is the body decoded and its senders
 * recovered. A peer that sends another body under a valid header is at fault: an honest node relays only what it has checked.
 */
export class ConsensusGossip {
  readonly #options: ConsensusGossipOptions
  readonly #listeners = new Set<{ readonly listener: Listener; readonly validateClaim: ClaimListener | undefined }>()
  readonly #reachability = new Reachability()
  /** Relayed statements with their times. */
  readonly #relayed = new Lru<string, number>(NETWORK_LIMITS.relayed)
  /** The block encoded last. */
  #encoded: { readonly block: Block; readonly bytes: Uint8Array } | undefined
  #saidLinks = ''
  #linksTimer: NodeJS.Timeout | undefined

  constructor(options: ConsensusGossipOptions) {
    this.#options = options
  }

  broadcast(message: ConsensusMessage): void {
    const neighbours = this.#neighbourPeers()
    if (neighbours.length === 0) return
    const [name, wire] = this.#encode(message)
    for (const peer of neighbours) peer.sendWire(name, wire)
  }

  send(id: PeerId, message: ConsensusMessage): void {
    const peer = this.#options.hub.peer(id)
    if (peer === undefined || !this.#options.hub.isNeighbour(peer)) return
    // Blocks answer status messages, which cost their sender nothing.
    if ('block' in message && !peer.blockAnswers.take(performance.now(), message.block.size)) return
    peer.sendWire(...this.#encode(message))
  }

  /**
   * Only by the listener's result is a message relayed to members beyond its author. `validateClaim` is called before the body of a block
   * is decoded; without it every block is decoded.
   */
  onMessage(listener: Listener, validateClaim?: ClaimListener): () => void {
    const listeners = { listener, validateClaim }
    this.#listeners.add(listeners)
    return () => this.#listeners.delete(listeners)
  }

  /** Returns how many of these validators, this one excluded, are neighbours or neighbours of one. */
  reachable(members: readonly Hex[]): number {
    return this.#reachability.reachable(members, this.#options.self, this.#neighbours()).length
  }

  /** Returns the others. */
  unreachable(members: readonly Hex[]): readonly Hex[] {
    const { self } = this.#options
    const near = new Set(this.#reachability.reachable(members, self, this.#neighbours()))
    return members.filter(member => member !== self && !near.has(member))
  }

  /** Validators for which a neighbour speaks (itself, those that named it, all that an own relay reaches), and those it says to reach. */
  speaker(id: PeerId): { readonly speaksFor: readonly Hex[]; readonly reaches: readonly Hex[] } | undefined {
    const { hub } = this.#options
    const peer = hub.peer(id)
    if (peer === undefined || !hub.isNeighbour(peer)) return undefined
    const reaches = this.#reachability.through([id])
    if (hub.isMember(peer)) return { speaksFor: peer.validator === null ? [] : [peer.validator], reaches }
    return { speaksFor: hub.isOwnRelay(peer) ? reaches : [...peer.relayFor.keys()], reaches }
  }

  /** Reports a neighbour whose message is provably its own fault. */
  misbehaved(id: PeerId): void {
    this.#options.hub.blameId(id, 'forged', 'unsigned, or different from its claim')
  }

  /** Handles a vote or a status. */
  received(peer: Peer, message: ConsensusMessage): void {
    if (this.#tell(message, peer) === 'accept') this.#relay(message, peer)
  }

  /** A proposal's signature covers the hash it names. */
  receivedProposal(peer: Peer, { head: named, block }: WireProposal): Promise<void> | undefined {
    if (!this.#isTrue(peer, { type: 'proposal', head: named })) return undefined
    const { blockHash, ...head } = named
    if (headerOf(block).hash === blockHash) return this.#decode(peer, block, decoded => ({ ...head, block: decoded }))
    this.#options.hub.blame(peer, 'forged', 'proposal with another block')
    return undefined
  }

  receivedBody(peer: Peer, bytes: Uint8Array): Promise<void> | undefined {
    const { hash: blockHash } = headerOf(bytes)
    if (!this.#isTrue(peer, { type: 'body', blockHash })) return undefined
    return this.#decode(peer, bytes, block => ({ type: 'body', block }))
  }

  receivedDecided(peer: Peer, { block: bytes, certificate }: SealedBlock): Promise<void> | undefined {
    const { header, hash: blockHash } = headerOf(bytes)
    if (!this.#isTrue(peer, { type: 'decided', number: header.number, blockHash, certificate })) return undefined
    return this.#decode(peer, bytes, block => ({ type: 'decided', block, certificate }))
  }

  receivedLinks(peer: Peer, validators: readonly Hex[]): void {
    this.#reachability.heard(peer.id, validators)
    if (!this.#options.hub.isMember(peer)) this.#announceSoon()
  }

  close(): void {
    clearTimeout(this.#linksTimer)
  }

  /** Announces which validators this node reaches, when that changed; members hear of those by relays too. Called regularly. */
  announceLinks(): void {
    clearTimeout(this.#linksTimer)
    this.#linksTimer = undefined
    const { hub } = this.#options
    const neighbours = this.#neighbours()
    const direct = [...neighbours.values()].filter(validator => validator !== null).sort()
    const relays = [...neighbours.keys()].filter(id => neighbours.get(id) === null)
    const all = [...new Set([...direct, ...this.#reachability.through(relays)])].sort()
    // A relay that has become a neighbour has received no list yet.
    const text = `${[...neighbours.keys()].join()} ${direct.join()} ${all.join()}`
    if (text === this.#saidLinks) return
    this.#saidLinks = text
    const encode = (reached: readonly Hex[]) => encodeWireMessage('links', reached.slice(0, COUNCIL_BOUNDS.members))
    const [forMembers, forRelays] = [encode(all), encode(direct)]
    for (const peer of this.#neighbourPeers()) {
      // A relay that took itself for needless would no longer relay.
      const isSent = peer.sendWire('links', hub.isMember(peer) ? forMembers : forRelays)
      // One beyond its pace is told by the next call.
      if (!isSent) this.#saidLinks = 'nothing'
    }
  }

  joined(peer: Peer): void {
    if (!this.#options.hub.isNeighbour(peer)) return
    // The new neighbour has received no list yet, even if the list is the same as before.
    this.#saidLinks = 'nothing'
    this.#announceSoon()
  }

  left(peer: Peer): void {
    this.#reachability.forget(peer.id)
    this.#announceSoon()
  }

  /** Coalesces announcements, since many neighbours connect at once when a mesh forms. */
  #announceSoon(): void {
    this.#linksTimer ??= setTimeout(() => this.announceLinks(), NETWORK_LIMITS.linksMs)
  }

  #neighbourPeers(): readonly Peer[] {
    const { hub } = this.#options
    return hub.peers().filter(peer => hub.isNeighbour(peer))
  }

  #neighbours(): ConsensusPeers {
    const { hub } = this.#options
    return new Map(this.#neighbourPeers().map(peer => [peer.id, hub.isMember(peer) ? peer.validator : null]))
  }

  #tell(message: ConsensusMessage, { id }: Peer): MessageAcceptance | undefined {
    let verdict: MessageAcceptance | undefined
    for (const { listener } of this.#listeners) verdict = listener(message, id) ?? verdict
    return verdict
  }

  /** Asks consensus about a claim. Without a listener no block is needed; for `reject` the peer's score was lowered already. */
  #isTrue({ id }: Peer, claim: BlockClaim): boolean {
    return [...this.#listeners].some(
      ({ validateClaim }) => validateClaim === undefined || validateClaim(claim, id) === 'accept',
    )
  }

  /** Decodes a few blocks of one peer at a time; excess ones are dropped, since their author resends them. */
  async #decode(peer: Peer, bytes: Uint8Array, messageOf: (block: Block) => ConsensusMessage): Promise<void> {
    if (peer.decoding >= NETWORK_LIMITS.decoding) return
    peer.decoding++
    try {
      const block = await this.#read(peer, bytes)
      if (block !== undefined) this.received(peer, messageOf(block))
    } finally {
      peer.decoding--
    }
  }

  async #read(peer: Peer, bytes: Uint8Array): Promise<Block | undefined> {
    const { blocks, hub } = this.#options
    try {
      return await blocks.decode(bytes)
    } catch (error) {
      if (!isCoded(error)) throw error
      // The recovery workers had no room: the block may be valid, and its author resends it.
      if (error.code !== 'RECOVERY_UNAVAILABLE') hub.blame(peer, 'forged', `a body of another header: ${error.message}`)
      return undefined
    }
  }

  #relay(message: ConsensusMessage, from: Peer): void {
    if (!('sender' in message)) return
    const { hub, members } = this.#options
    const author = members.memberAt(message.number, message.sender)
    if (author === undefined) return
    // Another member that relays a message sends it to all neighbours that need it: else each would send it to each.
    if (from.validator !== author && hub.isMember(from)) return
    const targets = this.#reachability.targets(author, from.id, this.#neighbours())
    if (targets.length === 0) return
    const [name, wire] = this.#encode(message)
    const key = asBuffer(sha256(wire.bytes)).toString('latin1')
    const nowMs = performance.now()
    if (nowMs - (this.#relayed.get(key) ?? Number.NEGATIVE_INFINITY) < NETWORK_LIMITS.relayAgainMs) return
    this.#relayed.set(key, nowMs)
    for (const id of targets) hub.peer(id)?.sendWire(name, wire)
  }

  #encode(message: ConsensusMessage): [WireName, WireMessage] {
    switch (message.type) {
      case 'status':
        return ['status', encodeWireMessage('status', message)]
      case 'proposal':
        return [
          'proposal',
          encodeWireMessage('proposal', { head: proposalHead(message), block: this.#encodeBlock(message.block) }),
        ]
      case 'body':
        return ['body', encodeWireMessage('body', this.#encodeBlock(message.block))]
      case 'decided': {
        const { block, certificate } = message
        return ['decided', encodeWireMessage('decided', { block: this.#encodeBlock(block), certificate })]
      }
      default:
        return ['vote', encodeWireMessage('vote', message)]
    }
  }

  /** Caches the encoding, since the same block is sent to several neighbours in turn. */
  #encodeBlock(block: Block): Uint8Array {
    if (this.#encoded?.block !== block) this.#encoded = { block, bytes: this.#options.blocks.encode(block) }
    return this.#encoded.bytes
  }
}
