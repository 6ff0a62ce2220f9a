import type { Hex } from '@tandem/base/bytes.ts'
import { ConsensusGossip } from '../../../src/network/gossip/consensus-gossip.ts'
import { type MessageName, messageSpec } from '../../../src/network/messages/messages.ts'
import type { Peer } from '../../../src/network/peer/peer.ts'
import type { PeerHub } from '../../../src/network/peer/peer-hub.ts'
import type { ConsensusMessage } from '../../../src/primitives/consensus/message.ts'
import { blockCodec } from '../consensus/ledger.ts'
import { framesOf } from './frames.ts'

/** Node of a mesh: a member by its index, or a relay. */
export interface MeshNode {
  readonly name: string
  readonly member: number | null
}

const addressOf = (member: number): Hex => `0x${(member + 1).toString(16).padStart(40, '0')}`
/** Frame header and message head. */
const BEFORE_PAYLOAD = 14

/** Consensus gossip of many nodes in one process, without lines: each message is counted and arrives in the order of sending. */
export class GossipMesh {
  /** Messages sent, by name. */
  readonly sent = new Map<MessageName, number>()
  /** Statements that each node heard. */
  readonly heard = new Map<string, number>()
  readonly #gossips = new Map<string, ConsensusGossip>()
  readonly #queue: (() => void)[] = []

  /** `links`: pairs of names that are connected. */
  constructor(nodes: readonly MeshNode[], links: readonly (readonly [string, string])[]) {
    const members = new Set(nodes.flatMap(({ member }) => (member === null ? [] : [addressOf(member)])))
    const byName = new Map(nodes.map(node => [node.name, node]))
    const peersOf = new Map<string, Peer[]>(nodes.map(({ name }) => [name, []]))
    for (const [one, other] of links) {
      peersOf.get(one)?.push(this.#peer(one, byName.get(other) as MeshNode, peersOf))
      peersOf.get(other)?.push(this.#peer(other, byName.get(one) as MeshNode, peersOf))
    }
    for (const { name, member } of nodes) {
      const peers = peersOf.get(name) ?? []
      const hub = {
        peers: () => peers,
        peer: (id: string) => peers.find(peer => peer.id === id),
        isNeighbour: () => true,
        isOwnRelay: () => false,
        isMember: ({ validator }: Peer) => validator !== null,
      } as unknown as PeerHub
      const gossip = new ConsensusGossip({
        hub,
        blocks: blockCodec,
        members: { isMember: address => members.has(address), memberAt: (_, index) => addressOf(index) },
        self: member === null ? null : addressOf(member),
      })
      gossip.onMessage(() => {
        this.heard.set(name, (this.heard.get(name) ?? 0) + 1)
        return 'accept'
      })
      this.#gossips.set(name, gossip)
    }
    // A list that a relay told changes what its neighbours tell.
    for (let round = 0; round < 4; round++) {
      for (const gossip of this.#gossips.values()) gossip.announceLinks()
      this.#run()
    }
    this.sent.clear()
  }

  /** Number of other members that a node counts as reachable. */
  reachable(name: string, members: number): number {
    return this.#gossips.get(name)?.reachable(Array.from({ length: members }, (_, index) => addressOf(index))) ?? 0
  }

  broadcast(name: string, message: ConsensusMessage): void {
    this.#gossips.get(name)?.broadcast(message)
    this.#run()
  }

  close(): void {
    for (const gossip of this.#gossips.values()) gossip.close()
  }

  /** The peer `to` as `from` sees it. */
  #peer(from: string, to: MeshNode, peersOf: ReadonlyMap<string, readonly Peer[]>): Peer {
    return {
      id: to.name,
      validator: to.member === null ? null : addressOf(to.member),
      sendWire: (name: MessageName, { bytes }: { readonly bytes: Uint8Array }) => {
        this.sent.set(name, (this.sent.get(name) ?? 0) + 1)
        const [frame] = framesOf(bytes)
        const value = messageSpec(name).codec.decode((frame as Uint8Array).subarray(BEFORE_PAYLOAD))
        this.#queue.push(() => {
          const gossip = this.#gossips.get(to.name)
          const sender = peersOf.get(to.name)?.find(({ id }) => id === from) as Peer
          if (name === 'links') gossip?.receivedLinks(sender, value as readonly Hex[])
          else gossip?.received(sender, value as ConsensusMessage)
        })
        return true
      },
    } as unknown as Peer
  }

  #run(): void {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) next()
  }
}

/** Members in a full mesh, those from `open` on hidden behind the relays, which are connected with all and each other. */
export const sentryMesh = (members: number, open: number, relays: number): GossipMesh => {
  const nodes: MeshNode[] = [
    ...Array.from({ length: members }, (_, member) => ({ name: `m${member}`, member })),
    ...Array.from({ length: relays }, (_, index) => ({ name: `r${index}`, member: null })),
  ]
  const links = nodes.flatMap((one, at) =>
    nodes.slice(at + 1).flatMap(other => {
      const isHidden = [one, other].some(({ member }) => member !== null && member >= open)
      const isRelayed = one.member === null || other.member === null
      return isHidden && !isRelayed ? [] : [[one.name, other.name] as const]
    }),
  )
  return new GossipMesh(nodes, links)
}
