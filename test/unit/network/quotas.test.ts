import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import { TransactionGossip } from '../../../src/network/gossip/transaction-gossip.ts'
import type { Hello } from '../../../src/network/messages/control-messages.ts'
import { OUTSIDER_QUOTA } from '../../../src/network/messages/message-spec.ts'
import { ANSWER_NAMES, MESSAGES, type MessageName, type RequestName } from '../../../src/network/messages/messages.ts'
import type { Connection } from '../../../src/network/peer/connection.ts'
import { encodeWireMessage, Peer, type PeerHost } from '../../../src/network/peer/peer.ts'
import type { PeerSet } from '../../../src/network/peer/peer-set.ts'
import { createPeerRequest } from '../../../src/network/peer/requester.ts'
import { FrameReader } from '../../../src/network/wire/frame-reader.ts'
import type { WireMessage } from '../../../src/network/wire/frames.ts'
import type { Prepare } from '../../../src/primitives/consensus/vote.ts'
import { framesOf } from '../../support/network/frames.ts'
import { RawPool } from '../../support/network/net-node.ts'

const PEERS = 100
const MEMBERS = 4
const PER_SECOND = 2_000
const SECONDS = 12
/** A line of no round trip is the hardest: what waits for nothing is sent as fast as it can be. */
const STEP_MS = 10

/** The other end of a connection of one node, which charges what it gets to its quotas. */
class FarEnd {
  readonly offences: string[] = []
  /** Hashes of transactions that the node announced or sent. */
  readonly told = new Set<string>()
  /** The node's side of the connection. */
  readonly near: Peer
  /** False: it takes the node for no neighbour. */
  takes = true
  /** True: there is no room for what the node sends. */
  isFull = false
  /** Messages on their way; null: they arrive at once. */
  held: WireMessage[] | null = null
  readonly #far: Peer
  readonly #reader: FrameReader

  constructor(index: number, isMember: boolean, node: Pick<PeerHost, 'isNeighbour' | 'received'>) {
    const hello = {
      nodeId: String(index),
      proof: null,
      head: { number: 0, hash: '0x' },
      earliest: 0,
    } as unknown as Hello
    const toNear: { push?: (message: WireMessage) => void } = {}
    const line = (send: (message: WireMessage) => void) =>
      ({
        hand: () => {},
        send: (message: WireMessage) => {
          if (!this.isFull) send(message)
          return !this.isFull
        },
        blockedSinceMs: null,
        queuedBytes: () => (this.isFull ? 1 : 0),
      }) as unknown as Connection
    const host = (received: PeerHost['received'], blamed: (offence: string) => void): PeerHost => ({
      partial: { take: () => true, give: () => {} } as unknown as PeerHost['partial'],
      senderQuotas: new Map(),
      isNeighbour: () => this.takes,
      isOfUse: () => true,
      blame: (_, offence, detail) => blamed(`${offence}: ${detail}`),
      skippedOutsider: () => {},
      failed: (_, __, error) => {
        throw error
      },
      received,
      ended: () => {},
      counted: () => {},
    })
    const end = { hello, inbound: true, remoteAddress: '10.0.0.1', localAddress: '10.0.0.2' } as const
    const place = isMember ? 'reserved' : 'inbound'
    const answers: PeerHost['received'] = (peer, name, value, requestId) => this.#answer(peer, name, value, requestId)
    const far = new Peer({
      ...end,
      place,
      connection: line(message => toNear.push?.(message)),
      host: host(answers, offence => this.offences.push(offence)),
    })
    this.#far = far
    this.#reader = new FrameReader(far)
    this.near = new Peer({
      ...end,
      place,
      connection: line(message => (this.held === null ? this.#arrive(message) : void this.held.push(message))),
      host: {
        ...host(node.received, offence => this.offences.push(`by the node: ${offence}`)),
        isNeighbour: node.isNeighbour,
      },
    })
    const back = new FrameReader(this.near)
    toNear.push = ({ bytes }) => {
      for (const frame of framesOf(bytes)) back.push(frame, performance.now())
    }
  }

  #arrive({ bytes }: WireMessage): void {
    for (const frame of framesOf(bytes)) this.#reader.push(frame, performance.now())
  }

  /** Delivers at once all messages that the line held back. */
  release(): void {
    const held = this.held ?? []
    this.held = null
    for (const message of held) this.#arrive(message)
  }

  send(message: WireMessage, name: MessageName = 'transactionHashes'): void {
    this.#far.sendWire(name, message)
  }

  #answer(peer: Peer, name: MessageName, value: unknown, requestId: number): void {
    if (name === 'transactionHashes') for (const hash of value as string[]) this.told.add(hash)
    if (name === 'newTransactions') for (const raw of value as Uint8Array[]) this.told.add(keccak256Hex(raw))
    if (!Object.hasOwn(ANSWER_NAMES, name)) return
    const raws = name === 'getTransactions' ? (value as string[]).map(hash => RAWS.get(hash) as Uint8Array) : []
    peer.send(ANSWER_NAMES[name as RequestName], raws as never, requestId)
  }
}

const VOTE: Prepare = {
  type: 'prepare',
  ...{ number: 1, round: 0, blockHash: `0x${'ab'.repeat(32)}`, sender: 0, signature: new Uint8Array(65) },
}

const RAWS = new Map<string, Uint8Array>()
let made = 0
const makeTransaction = () => {
  const raw = new Uint8Array(110).fill(1)
  new DataView(raw.buffer).setUint32(4, made++)
  const hash = keccak256Hex(raw)
  RAWS.set(hash, raw)
  return { hash, raw }
}

/** A node of the repository's own classes with a hundred peers, and the time in the test's hands. */
const makeNode = () => {
  const pool = new RawPool()
  const received: PeerHost['received'] = (peer, name, value) => {
    if (name === 'transactionHashes') gossip.announced(peer, value as never)
  }
  const isNeighbour = ({ place }: Peer) => place === 'reserved'
  const ends = Array.from(
    { length: PEERS },
    (_, index) => new FarEnd(index, index < MEMBERS, { isNeighbour, received }),
  )
  const peers = ends.map(({ near }) => near)
  const byId = new Map(peers.map(peer => [peer.id, peer]))
  const blamed: string[] = []
  const hub = {
    peers: () => peers,
    peer: (id: string) => byId.get(id),
    blame: (_: Peer, offence: string, detail: string) => blamed.push(`${offence}: ${detail}`),
    failed: (_: Peer, __: string, error: unknown) => {
      throw error
    },
    isNeighbour,
    random: () => 0.5,
  } as unknown as PeerSet
  const gossip = new TransactionGossip(hub, pool)
  return { pool, ends, gossip, request: createPeerRequest(hub), blamed }
}

describe('an honest node keeps the quotas of its peers', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
    RAWS.clear()
  })
  const offencesOf = ({ ends, blamed }: ReturnType<typeof makeNode>) => [
    ...blamed,
    ...ends.flatMap(({ offences }) => offences),
  ]

  test('when it sends on 2,000 transactions a second, half of them of other members, to a hundred peers', async () => {
    const node = makeNode()
    node.pool.onAccepted = (hash, raw) => node.gossip.announce([{ hash, raw }])
    const [member] = node.ends
    for (let atMs = 0; atMs < SECONDS * 1_000; atMs += STEP_MS) {
      const fresh = Array.from({ length: (PER_SECOND * STEP_MS) / 1_000 }, makeTransaction)
      const half = fresh.length / 2
      node.gossip.announce(fresh.slice(0, half))
      void node.gossip.pushed(
        member?.near as Peer,
        fresh.slice(half).map(({ raw }) => raw),
      )
      await vi.advanceTimersByTimeAsync(STEP_MS)
    }
    await vi.advanceTimersByTimeAsync(1_000)
    expect(offencesOf(node)).toEqual([])
    // None is lost on the way: the last peer was told of all.
    const last = node.ends.at(-1)
    expect([...RAWS.keys()].filter(hash => !last?.told.has(hash))).toEqual([])
    node.gossip.close()
  })

  test('when the line holds everything back for eight seconds', async () => {
    const node = makeNode()
    for (let atMs = 0; atMs < SECONDS * 1_000; atMs += STEP_MS) {
      if (atMs === 3_500) for (const end of node.ends) end.held = []
      if (atMs === 11_500) for (const end of node.ends) end.release()
      node.gossip.announce(Array.from({ length: (PER_SECOND * STEP_MS) / 1_000 }, makeTransaction))
      await vi.advanceTimersByTimeAsync(STEP_MS)
    }
    expect(offencesOf(node)).toEqual([])
    node.gossip.close()
  })

  test('when it tells peers that had no room for some of it, as soon as they have taken the rest', async () => {
    const node = makeNode()
    const [full] = node.ends.slice(-1) as [FarEnd]
    const missed = makeTransaction()
    node.pool.held.set(missed.hash, missed.raw)
    for (let atMs = 0; atMs < SECONDS * 1_000; atMs += STEP_MS) {
      full.isFull = atMs >= 3_000 && atMs < 6_000
      const fresh = Array.from({ length: (PER_SECOND * STEP_MS) / 1_000 }, makeTransaction)
      node.gossip.announce(atMs === 4_000 ? [missed, ...fresh] : fresh)
      await vi.advanceTimersByTimeAsync(STEP_MS)
    }
    expect(offencesOf(node)).toEqual([])
    expect(full.told.has(missed.hash)).toBe(true)
    node.gossip.close()
  })

  test('when a hundred peers announce 2,000 transactions a second to it, while it syncs', async () => {
    const node = makeNode()
    let isSyncing = true
    const ask = async (): Promise<void> => {
      while (isSyncing) await node.request('getBlocks', { from: 1, count: 128 }).catch(() => Promise.resolve())
    }
    const asking = [ask(), ask(), ask(), ask()]
    for (let atMs = 0; atMs < SECONDS * 1_000; atMs += 50) {
      const hashes = Array.from({ length: (PER_SECOND * 50) / 1_000 }, () => makeTransaction().hash)
      const message = encodeWireMessage('transactionHashes', hashes)
      for (const end of node.ends.slice(0, 3)) end.send(message)
      await vi.advanceTimersByTimeAsync(50)
    }
    isSyncing = false
    await vi.advanceTimersByTimeAsync(20_000)
    await Promise.all(asking)
    expect(offencesOf(node)).toEqual([])
    expect(node.pool.received.length).toBe(RAWS.size)
    node.gossip.close()
  })

  test('whatever it wishes to send: each kind of message to a peer has a pace below its quota', async () => {
    const { ends } = makeNode()
    const [end] = ends as [FarEnd]
    const message = encodeWireMessage('transactionHashes', [keccak256Hex(Uint8Array.of(1))])
    const { quota } = MESSAGES.transactionHashes
    const sent = Array.from({ length: 2 * quota.burst }, () => end.near.sendWire('transactionHashes', message))
    expect(sent.filter(isSent => isSent).length).toBe(quota.burst / 2)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(end.near.sendWire('transactionHashes', message)).toBe(true)
    expect(end.offences).toEqual([])
  })

  test('towards a peer that takes it for no neighbour, and beyond once its links say that it does', async () => {
    const { ends } = makeNode()
    const [end] = ends as [FarEnd]
    const message = encodeWireMessage('vote', VOTE)
    const count = () => Array.from({ length: 1_000 }, () => end.near.sendWire('vote', message)).filter(Boolean).length
    end.takes = false
    for (let second = 0; second < SECONDS; second++) {
      expect(count()).toBeLessThanOrEqual(OUTSIDER_QUOTA.burst / 2)
      await vi.advanceTimersByTimeAsync(1_000)
    }
    expect(end.offences).toEqual([])
    end.takes = true
    end.send(encodeWireMessage('links', []), 'links')
    expect(count()).toBe(1_000)
    // A member that leaves the council goes on for a moment.
    end.near.sendWire('links', encodeWireMessage('links', []))
    expect(end.offences).toEqual([])
  })
})
