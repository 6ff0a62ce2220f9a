import type { Hex } from '@tandem/base/bytes.ts'
import { afterEach, describe, expect, test } from 'vitest'
import { ConsensusGossip } from '../../../src/network/gossip/consensus-gossip.ts'
import { signDelegation } from '../../../src/network/gossip/delegations.ts'
import { type MessageName, messageSpec } from '../../../src/network/messages/messages.ts'
import type { Peer } from '../../../src/network/peer/peer.ts'
import type { PeerSet } from '../../../src/network/peer/peer-set.ts'
import type { ConsensusMessage } from '../../../src/primitives/consensus/message.ts'
import type { Prepare } from '../../../src/primitives/consensus/vote.ts'
import { blockCodec, Ledger } from '../../support/consensus/ledger.ts'
import { ManualClock } from '../../support/consensus/manual-clock.ts'
import { createMember, DOMAIN, signerOf } from '../../support/consensus/member.ts'
import { MemoryFiles } from '../../support/consensus/memory-files.ts'
import { Mesh } from '../../support/consensus/mesh.ts'
import { framesOf } from '../../support/network/frames.ts'
import { type NetNode, NetNodes, until } from '../../support/network/net-node.ts'
import { RawPeer } from '../../support/network/raw-peer.ts'

/** Node of a mesh: a member by its index, or a relay. */
interface MeshNode {
  readonly name: string
  readonly member: number | null
}

/** Members of a council that is larger than any committee; the last of 128 in the committee is the last of these. */
const COUNCIL = 140
const addressOf = (member: number): Hex => `0x${(member + 1).toString(16).padStart(40, '0')}`
/** Frame header and message head. */
const BEFORE_PAYLOAD = 14

/** Consensus gossip of many nodes in one process, without lines: each message is counted and arrives in the order of sending. */
class GossipMesh {
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
      } as unknown as PeerSet
      const gossip = new ConsensusGossip({
        hub,
        blocks: blockCodec,
        members: {
          isMember: address => members.has(address),
          memberAt: (_, index) => addressOf(index === 127 ? COUNCIL - 1 : index),
        },
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
const sentryMesh = (members: number, open: number, relays: number): GossipMesh => {
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

const nodes = new NetNodes()
afterEach(() => nodes.stop())

const vote = (sender: number, round = 0): Prepare => ({
  type: 'prepare',
  number: 1,
  round,
  blockHash: `0x${'ab'.repeat(32)}`,
  sender,
  signature: new Uint8Array(65).fill(round),
})
const votesOf = (node: NetNode) => node.heard.filter(({ message }) => message.type === 'prepare')

describe('messages of one statement', () => {
  const count = (mesh: GossipMesh, from: string, sender: number): number => {
    mesh.broadcast(from, vote(sender))
    mesh.close()
    return mesh.sent.get('vote') ?? 0
  }

  test.each([4, 22, 100])('of %i members in a full mesh go once to each', members => {
    expect(count(sentryMesh(members, members, 0), 'm0', 0)).toBe(members - 1)
  })

  test('of one of a council larger than any committee, in a full mesh, go once to each', () => {
    expect(count(sentryMesh(COUNCIL, COUNCIL, 0), `m${COUNCIL - 1}`, 127)).toBe(COUNCIL - 1)
  })

  test.each([4, 22, 100])('of the one hidden of %i members go to its relay, and from there once to each', members => {
    const mesh = sentryMesh(members, members - 1, 1)
    expect(mesh.reachable('m0', members)).toBe(members - 1)
    expect(count(mesh, `m${members - 1}`, members - 1)).toBe(members)
    expect([...mesh.heard.values()].every(times => times === 1)).toBe(true)
  })

  test.each([4, 22, 100])('of one of %i members that are all behind one relay go once to each', members => {
    expect(count(sentryMesh(members, 0, 1), 'm0', 0)).toBe(members)
  })

  test('arrive over two relays, between two hidden members, who count each other as reachable', () => {
    const names: MeshNode[] = [
      { name: 'm0', member: 0 },
      { name: 'r0', member: null },
      { name: 'r1', member: null },
      { name: 'm1', member: 1 },
    ]
    const mesh = new GossipMesh(names, [
      ['m0', 'r0'],
      ['r0', 'r1'],
      ['r1', 'm1'],
    ])
    expect(mesh.reachable('m0', 2)).toBe(1)
    expect(mesh.reachable('m1', 2)).toBe(1)
    mesh.broadcast('m0', vote(0))
    expect(mesh.heard.get('m1')).toBe(1)
    expect(mesh.sent.get('vote')).toBe(3)
    mesh.close()
  })

  test('of a member that half of the others lack are passed on by those that heard it from itself, and no further', () => {
    const members = Array.from({ length: 7 }, (_, member) => ({ name: `m${member}`, member }))
    const links = members.flatMap((one, at) =>
      members
        .slice(at + 1)
        .flatMap(other => (one.member === 0 && other.member > 3 ? [] : [[one.name, other.name] as const])),
    )
    // Three from the author, three from each of these.
    expect(count(new GossipMesh(members, links), 'm0', 0)).toBe(12)
  })

  test('do not depend on one of two relays', () => {
    const mesh = sentryMesh(4, 3, 2)
    mesh.broadcast('m3', vote(3))
    expect([0, 1, 2].map(index => mesh.heard.get(`m${index}`))).toEqual([2, 2, 2])
    mesh.close()
  })
})

test.each([
  [4, 27, 36],
  [22, 945, 990],
])(
  'one height of %i members takes %i messages in a full mesh, and %i behind one relay',
  async (size, plain, relayed) => {
    const clock = new ManualClock()
    const lines = new Mesh()
    let statements = 0
    lines.onSaid = () => statements++
    const ledgers = Array.from({ length: size }, (_, index) => new Ledger(index * 1_000_000))
    const members = await Promise.all(
      ledgers.map((ledger, index) =>
        createMember({ index, size, clock, files: new MemoryFiles(), ledger, network: lines.port(index) }),
      ),
    )
    for (const { engine } of members) await engine.start()
    await clock.advance(3_000)
    for (const { engine } of members) await engine.stop()
    const heights = ledgers[0]?.blocks.length ?? 0
    expect(heights).toBeGreaterThan(0)
    // One proposal, a prepare and a commit of each.
    expect(statements / heights).toBe(2 * size + 1)
    const messages = [sentryMesh(size, size, 0), sentryMesh(size, 0, 1)].map(mesh => {
      mesh.broadcast('m0', vote(0))
      mesh.close()
      return (mesh.sent.get('vote') ?? 0) * (statements / heights)
    })
    expect(messages).toEqual([plain, relayed])
  },
)

describe('a hidden validator', () => {
  const start = async () => {
    const sentry = await nodes.start({ committee: 3 })
    const hidden = await nodes.start({
      ...{ committee: 3, member: 0, relays: [sentry.id], listen: null, discovers: false },
      staticPeers: [sentry.address],
    })
    const open = await nodes.start({ committee: 3, member: 1, bootnodes: [sentry.address] })
    await until('connected', () => sentry.network.peerCount === 2)
    return { sentry, hidden, open }
  }
  const all = [0, 1].map(index => signerOf(index).address)

  test('names its relay, and nobody else has to: both ways', async () => {
    const { hidden, open, sentry } = await start()
    const reach = ({ network }: NetNode) => network.consensus.reachable(all)
    await until('reach', () => reach(hidden) === 1 && reach(open) === 1)
    hidden.network.consensus.broadcast(vote(0))
    open.network.consensus.broadcast(vote(1))
    await until('both ways', () => votesOf(open).length === 1 && votesOf(hidden).length === 1)
    await until('a reserved slot', () => open.network.peers()[0]?.place === 'reserved')
    // A member that comes later is told as well.
    const late = await nodes.start({ committee: 3, member: 2, bootnodes: [sentry.address] })
    await until('late', () => late.network.consensus.reachable(all) === 2)
  })

  test('that nobody named: the operator of the skipped relay finds out why, once', async () => {
    const node = await nodes.start({ member: 1, committee: 3 })
    const relay = await RawPeer.meet(node.port)
    const lines = () => node.log.lines.filter(({ message }) => message.includes('named it with --relays'))
    for (let round = 0; round < 3; round++) relay.send('vote', vote(0, round))
    await until('a line', () => lines().length > 0)
    relay.send('ping', { head: { number: 0, hash: DOMAIN.genesisHash }, earliest: 0 }, 1)
    await until('read', () => relay.said('pong').length > 0)
    expect(lines()).toMatchObject([{ fields: { peer: relay.key.id, message: 'vote' } }])
    expect(votesOf(node)).toEqual([])
  })

  test('cannot be claimed: a false delegation costs score, and a relay of four others is one too many', async () => {
    const node = await nodes.start({ member: 1, committee: 3 })
    const liar = await RawPeer.meet(node.port)
    liar.send('delegation', signDelegation(signerOf(7), DOMAIN, 'ab'.repeat(32), 0))
    liar.send('delegation', { ...signDelegation(signerOf(0), DOMAIN, 'ab'.repeat(32), 0) })
    await until('gone', () => liar.isClosed)
    const relays: RawPeer[] = []
    for (let index = 0; index < 5; index++) {
      const relay = await RawPeer.meet(node.port)
      relay.send('delegation', signDelegation(signerOf(0), DOMAIN, relay.key.id, 0))
      relay.send('ping', { head: { number: 0, hash: DOMAIN.genesisHash }, earliest: 0 }, 1)
      await until('read', () => relay.said('pong').length > 0)
      relay.send('vote', vote(0, index))
      relays.push(relay)
    }
    await until('four', () => votesOf(node).length === 4)
    expect(relays.every(({ isClosed }) => !isClosed)).toBe(true)
  })
})
