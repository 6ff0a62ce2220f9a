import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { systemClock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { TokenBucket } from '@tandem/base/token-bucket.ts'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { NETWORK_LIMITS } from '../../../src/config/limits/network.ts'
import { DialScheduler } from '../../../src/network/core/dial-scheduler.ts'
import { PeerScores } from '../../../src/network/core/peer-scores.ts'
import { signDelegation } from '../../../src/network/gossip/delegations.ts'
import { PeerExchange } from '../../../src/network/gossip/peer-exchange.ts'
import { TransactionGossip } from '../../../src/network/gossip/transaction-gossip.ts'
import { signPeerRecord } from '../../../src/network/identity/peer-record.ts'
import type { Delegation, Hello } from '../../../src/network/messages/control-messages.ts'
import { MESSAGES } from '../../../src/network/messages/messages.ts'
import type { Connection } from '../../../src/network/peer/connection.ts'
import type { Peer } from '../../../src/network/peer/peer.ts'
import { PeerSet } from '../../../src/network/peer/peer-set.ts'
import { PendingRequests } from '../../../src/network/peer/pending-requests.ts'
import { generateNodeKey } from '../../../src/network/transport/node-key.ts'
import type { ValidatorSigner } from '../../../src/primitives/consensus/vote.ts'
import { DOMAIN, signerOf } from '../../support/consensus/member.ts'
import { NetNodes, RawPool, until } from '../../support/network/net-node.ts'
import { RawPeer } from '../../support/network/raw-peer.ts'

const nodes = new NetNodes()
afterEach(async () => {
  vi.useRealTimers()
  await nodes.stop()
})

test('a late response is tolerated once: a second one with its id is not free', async () => {
  vi.useFakeTimers()
  const pendingRequests = new PendingRequests()
  const pace = new TokenBucket({ perSecond: 1, burst: 1 }, performance.now())
  const response = pendingRequests.ask('getBlocks', pace, () => {}).catch(() => 'late')
  vi.advanceTimersByTime(NETWORK_LIMITS.requestMs + 1)
  expect(await response).toBe('late')
  expect(pendingRequests.begins(1, 'blocks')).toBe('late')
  expect(pendingRequests.begins(1, 'blocks')).toBe('unknown')
})

test('a response that has begun in time has as long again: a slow line takes more than ten seconds for one', async () => {
  vi.useFakeTimers()
  const pendingRequests = new PendingRequests()
  const pace = new TokenBucket({ perSecond: 1, burst: 1 }, performance.now())
  const response = pendingRequests.ask('getChunk', pace, () => {}).catch(() => 'late')
  vi.advanceTimersByTime(NETWORK_LIMITS.requestMs - 1)
  expect(pendingRequests.begins(1, 'chunk')).toBe('expected')
  vi.advanceTimersByTime(NETWORK_LIMITS.requestMs - 1)
  expect(pendingRequests.size).toBe(1)
  vi.advanceTimersByTime(1)
  expect(await response).toBe('late')
})

/** Records of nodes that do not exist. */
const inventedRecords = (count: number, hostOf = (index: number) => `127.0.${index}.1`): readonly Uint8Array[] =>
  Array.from({ length: count }, (_, index) => {
    const unsigned = { domain: DOMAIN, key: generateNodeKey(), sequence: 1, port: 30_333, signer: null }
    return signPeerRecord({ ...unsigned, host: hostOf(index) }).bytes
  })

const exchangeWith = (connected: ReadonlyMap<string, Peer> = new Map()) =>
  new PeerExchange({
    hub: { peer: (id: string) => connected.get(id), random: () => 0.5 } as unknown as PeerSet,
    dialScheduler: new DialScheduler({ ...NETWORK_LIMITS, entries: 9_999 }, () => false),
    domain: DOMAIN,
    selfId: generateNodeKey().id,
    acceptsLoopback: false,
    lowPorts: new Set(),
    isMember: () => false,
  })

describe('records of strangers', () => {
  test('that name the host of another node do not keep its own out, once it comes from there', () => {
    const connected = new Map<string, Peer>()
    const exchange = exchangeWith(connected)
    const host = '20.1.1.1'
    exchange.heardFrom(
      '60.1.1.1',
      inventedRecords(NETWORK_LIMITS.recordsPerHost, () => host),
    )
    const own = (key = generateNodeKey()) => {
      const unsigned = { domain: DOMAIN, key, sequence: 1, port: 30_333, signer: null }
      return { key, bytes: signPeerRecord({ ...unsigned, host }).bytes }
    }
    const hear = (remoteAddress: string, { key, bytes } = own(), id = key.id) => {
      const peer = { id, remoteAddress, place: 'inbound' } as unknown as Peer
      connected.set(peer.id, peer)
      exchange.heard(peer, bytes)
      return exchange.book.get(key.id) !== undefined
    }
    expect(hear('60.1.1.1'), 'from elsewhere').toBe(false)
    expect(hear(host, own(), 'another'), 'told by another node').toBe(false)
    for (let count = 0; count < NETWORK_LIMITS.recordsPerHost; count++) expect(hear(host)).toBe(true)
    expect(hear(host), 'those that are connected keep their places').toBe(false)
    expect(exchange.book.size).toBe(NETWORK_LIMITS.recordsPerHost)
  })

  test('are verified within a budget, whoever sends them', () => {
    vi.useFakeTimers()
    const exchange = exchangeWith()
    const { burst } = NETWORK_LIMITS.recordChecks
    const records = inventedRecords(burst + 100, index => `${20 + (index >> 8)}.${index & 255}.1.1`)
    // Told by nodes of many networks, so that the buckets of none are full.
    records.forEach((bytes, index) => void exchange.heardFrom(`${60 + (index % 100)}.1.1.1`, [bytes]))
    expect(exchange.book.size).toBeGreaterThan(burst / 2)
    expect(exchange.book.size).toBeLessThanOrEqual(burst)
  })

  test('are not taken during the handshake of a node that dials', async () => {
    const node = await nodes.start()
    const stranger = await RawPeer.connect(node.port)
    stranger.send('hello', stranger.hello())
    stranger.send('records', inventedRecords(1))
    expect(await stranger.closed()).toBe('malformed')
  })

  test('are not requested from a stranger that dials', async () => {
    const node = await nodes.start({ committee: 2 })
    const stranger = await RawPeer.meet(node.port)
    const member = await RawPeer.meet(node.port, {}, signerOf(1))
    await until('a member is asked', () => member.said('getRecords').length === 1)
    expect(stranger.said('getRecords')).toHaveLength(0)
  })
})

test('peers that come again and again cost one look at the pool a second, and delay the transactions of no other', () => {
  vi.useFakeTimers()
  const pool = new RawPool()
  const ready = vi
    .spyOn(pool, 'ready')
    .mockImplementation(limit =>
      Array.from({ length: limit }, (_, index): Hex => `0x${index.toString(16).padStart(64, '0')}`),
    )
  const sent: string[] = []
  const peerThat = (sendWire: (name: string) => boolean) =>
    ({ id: 'peer', place: 'inbound', transactions: new Map(), sendWire }) as unknown as Peer
  const stayed = peerThat(name => sent.push(name) > 0)
  const hub = { peers: () => [stayed], isNeighbour: () => true, random: () => 0 } as unknown as PeerSet
  const gossip = new TransactionGossip(hub, pool)
  for (let count = 0; count < 1_000; count++) gossip.joined(peerThat(() => true))
  expect(ready).toHaveBeenCalledTimes(1)
  gossip.announce([{ hash: `0x${'ab'.repeat(32)}`, raw: new Uint8Array(100) }])
  vi.advanceTimersByTime(1)
  expect(sent).toEqual(['newTransactions'])
  gossip.close()
})

describe('delegations to a sentry', () => {
  const life = NETWORK_LIMITS.delegationBlocks
  const hash: Hex = `0x${'00'.repeat(32)}`

  test('end after a number of blocks, and an old one sent again is none', async () => {
    let number = 0
    const node = await nodes.start({ member: 0, committee: 2, head: () => ({ number, hash }) })
    const relay = await RawPeer.meet(node.port)
    const isRelay = () => node.network.peers()[0]?.place === 'reserved'
    const [first, second] = [0, life].map(from => signDelegation(signerOf(1), DOMAIN, relay.key.id, from))
    relay.send('delegation', first as Delegation)
    await until('a relay', isRelay)
    number = life + 1
    await until('a stranger', () => !isRelay())
    relay.send('delegation', first as Delegation)
    relay.send('delegation', second as Delegation)
    await until('a relay again', isRelay)
    expect(node.network.peers()[0]?.score).toBe(0)
    number = 2 * life + 1
    await until('a stranger again', () => !isRelay())
  })

  test('that name a block far ahead do not count before: one signature would hold for years', async () => {
    let number = 0
    const node = await nodes.start({ member: 0, committee: 2, head: () => ({ number, hash }) })
    const relay = await RawPeer.meet(node.port)
    relay.send('delegation', signDelegation(signerOf(1), DOMAIN, relay.key.id, 5 * life))
    relay.send('ping', { head: { number: 9, hash }, earliest: 0 }, 1)
    await until('read', () => relay.said('pong').length === 1)
    expect(node.network.consensus.speaker(relay.key.id)).toBeUndefined()
    number = 4 * life
    expect(node.network.consensus.speaker(relay.key.id)?.speaksFor).toEqual([signerOf(1).address])
  })

  test('are renewed by the validator, and shown again by the relay', async () => {
    let number = 0
    const head = () => ({ number, hash })
    const sentry = await nodes.start({ committee: 2, head })
    const shared = { committee: 2, member: 0, relays: [sentry.id], staticPeers: [sentry.address], listen: null }
    await nodes.start({ ...shared, discovers: false, head })
    const peer = await RawPeer.meet(sentry.port)
    const shown = () => peer.said('delegation').map(({ value }) => (value as Delegation).number)
    await until('shown', () => shown().length === 1)
    number = life / 2 + 7
    await until('renewed', () => shown().length === 2)
    expect(shown()).toEqual([0, life / 2])
  })

  test('by keys that anyone can make take no place of a member, which counts once it is one', async () => {
    const members = new Set([signerOf(0).address])
    const sentry = await nodes.start({ members })
    const delegate = (peer: RawPeer, signer: ValidatorSigner) =>
      peer.send('delegation', signDelegation(signer, DOMAIN, sentry.id, 0))
    for (let index = 0; index < NETWORK_LIMITS.relayedValidators; index++) {
      const stranger = await RawPeer.meet(sentry.port, {}, signerOf(100 + index))
      delegate(stranger, signerOf(100 + index))
    }
    const [first, second] = [0, 1].map(signerOf) as [ValidatorSigner, ValidatorSigner]
    delegate(await RawPeer.meet(sentry.port, {}, first), first)
    delegate(await RawPeer.meet(sentry.port, {}, second), second)
    const peer = await RawPeer.meet(sentry.port)
    await until('shown', () => peer.said('delegation').length > 0)
    expect(peer.said('delegation')).toMatchObject([{ value: { address: first.address } }])
    members.add(second.address)
    await until('shown', () => peer.said('delegation').length === 2)
    expect(peer.said('delegation')[1]).toMatchObject({ value: { address: second.address } })
  })

  test('give a relay its place also when strangers have taken all others', async () => {
    const members = new Set([signerOf(0).address, signerOf(1).address])
    const node = await nodes.start({ member: 0, members, limits: { inbound: 1 } })
    const relay = await RawPeer.meet(node.port)
    relay.send('delegation', signDelegation(signerOf(1), DOMAIN, relay.key.id, 0))
    await until('a relay', () => node.network.peers()[0]?.place === 'reserved')
    relay.close()
    await until('gone', () => node.network.peerCount === 0)
    await RawPeer.meet(node.port)
    await RawPeer.meet(node.port, {}, null, { key: relay.key })
    await until('both', () => node.network.peerCount === 2)
  })
})

/** Peers without connections, in a set that has one member at most. */
const strangersIn = (count: number, received = () => {}, closed: string[] = [], member: Hex | null = null) => {
  const peerSet = new PeerSet(
    {
      members: { isMember: address => address === member, memberAt: () => undefined },
      chain: { head: () => ({ number: 0, hash: DOMAIN.genesisHash }), earliest: () => 0 },
      scores: new PeerScores({ ...NETWORK_LIMITS, entries: 99 }),
      relays: new Set(),
      statics: new Set(),
      limits: { ...NETWORK_LIMITS, reserved: 1 },
      clock: systemClock,
      logger: silentLogger,
      metrics: undefined,
      random: Math.random,
    },
    { joined: () => {}, left: () => {}, received, isOfUse: () => true },
  )
  const peers = Array.from({ length: count }, (_, index) =>
    peerSet.add({
      connection: { hand: () => {}, close: () => void closed.push(`honest${index}`) } as unknown as Connection,
      hello: { nodeId: `honest${index}`, client: '', proof: null } as unknown as Hello,
      inbound: true,
      remoteAddress: `${20 + (index % 3)}.1.${index}.1`,
      localAddress: '9.9.9.9',
      place: 'inbound',
    }),
  )
  return { peerSet, peers }
}

test('consensus messages of forty strangers are read at a small quota, and no signature of them is checked', () => {
  vi.useFakeTimers()
  let checks = 0
  const closed: string[] = []
  const { peers } = strangersIn(NETWORK_LIMITS.inbound, () => void checks++, closed)
  const { id, quota } = MESSAGES.vote
  const head = { id, requestId: 0, length: 2_000 }
  const [seconds, steps] = [10, 100]
  let read = 0
  for (let step = 0; step < seconds * steps; step++) {
    for (const peer of peers)
      for (let sent = 0; sent < quota.perSecond / steps && !closed.includes(peer.id); sent++) {
        read++
        if (peer.begin('votes', head) === 'take') peer.deliver('votes', head, new Uint8Array(head.length))
      }
    vi.advanceTimersByTime(1_000 / steps)
  }
  expect(checks).toBe(0)
  expect(read / peers.length / seconds).toBeLessThan(60)
})

test('a member that connects again and again, under any node id, has one quota of votes', () => {
  vi.useFakeTimers()
  const signer = signerOf(1).address
  const { peerSet } = strangersIn(0, () => {}, [], signer)
  const { id, quota } = MESSAGES.vote
  let taken = 0
  for (let count = 0; count < 20; count++) {
    const peer = peerSet.add({
      connection: { hand: () => {}, close: () => {} } as unknown as Connection,
      hello: { nodeId: `node${count}`, client: '', proof: { address: signer } } as unknown as Hello,
      ...{ inbound: true, remoteAddress: '20.1.1.1', localAddress: '9.9.9.9', place: 'reserved' },
    })
    for (let sent = 0; sent < quota.burst; sent++)
      if (peer.begin('votes', { id, requestId: 0, length: 200 }) === 'take') taken++
    peerSet.ended(peer, { reason: null, remote: true })
    vi.advanceTimersByTime(250)
  }
  expect(taken).toBeLessThanOrEqual(quota.burst + 5 * quota.perSecond)
})

test('relays of one member that come and go are remembered as few as it may have', () => {
  const member = signerOf(1).address
  const { peerSet, peers } = strangersIn(40, () => {}, [], member)
  for (const peer of peers) {
    peer.relayFor.set(member, 0)
    peerSet.assignPlaces()
    expect(peerSet.isReserved(peer.id, null)).toBe(true)
    peerSet.ended(peer, { reason: null, remote: true })
  }
  const reserved = peers.filter(({ id }) => peerSet.isReserved(id, null))
  expect(reserved).toEqual(peers.slice(-NETWORK_LIMITS.relaysPerValidator))
})

describe('inbound places', () => {
  test('are not emptied by handshakes of one network that are never finished', () => {
    const closed: string[] = []
    const { peerSet } = strangersIn(12, () => {}, closed)
    const coming: { id: string; remoteAddress: string; close(): void }[] = []
    for (let index = 0; index < 12; index++) {
      const stranger = { id: `stranger${index}`, remoteAddress: `6.6.${index}.1`, close: () => {} }
      if (peerSet.makeRoom(stranger.remoteAddress, coming)) coming.push(stranger)
    }
    // Four networks share the twelve places.
    expect(coming).toHaveLength(3)
    expect(closed).toHaveLength(3)
  })
})

describe('bans', () => {
  test('last as long as they say, whatever the clock is set to', async () => {
    let aheadMs = 0
    const clock = { ...systemClock, nowMs: () => Date.now() + aheadMs }
    const node = await nodes.start({ clock })
    const bad = await RawPeer.connect(node.port)
    bad.write(new Uint8Array(50).fill(255))
    await bad.closed()
    for (const hours of [1, -1]) {
      aheadMs = hours * 3_600_000
      const again = await RawPeer.connect(node.port, { key: bad.key })
      again.send('hello', again.hello())
      expect(await again.closed()).toBe('banned')
    }
  })

  test('of a static peer that broke the handshake are short, as all of its kind', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tandem-bans-'))
    const storePath = join(folder, 'peers.json')
    const key = generateNodeKey()
    const node = await nodes.start({ storePath, staticPeers: [{ id: key.id, host: '127.0.0.1', port: 1 }] })
    const bad = await RawPeer.connect(node.port, { key })
    bad.write(new Uint8Array(50).fill(255))
    expect(await bad.closed()).toBe('malformed')
    await node.network.stop()
    const { scores } = JSON.parse(readFileSync(storePath, 'utf8'))
    expect(scores[0]).toMatchObject({ key: key.id })
    expect(scores[0].bannedUntilMs - scores[0].atMs).toBe(NETWORK_LIMITS.reservedBanMs)
    rmSync(folder, { recursive: true })
  })
})
