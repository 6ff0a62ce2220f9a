import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { concatBytes, type Hex } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { afterEach, describe, expect, test } from 'vitest'
import { NETWORK_LIMITS } from '../../../src/config/limits/network.ts'
import { OUTSIDER_QUOTA } from '../../../src/network/messages/message-spec.ts'
import { MESSAGES } from '../../../src/network/messages/messages.ts'
import { encodeFrames } from '../../../src/network/wire/frames.ts'
import { encodeRlp } from '../../../src/primitives/rlp/rlp.ts'
import { signerOf } from '../../support/consensus/member.ts'
import { mutate, TALK } from '../../support/hostile/mutate.ts'
import { NetNodes, until } from '../../support/network/net-node.ts'
import { RawPeer, wire } from '../../support/network/raw-peer.ts'
import { SEED } from '../../support/seed.ts'

const nodes = new NetNodes()
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await nodes.stop()
})

const MIB = 1024 * 1024
const HASH: Hex = `0x${'ab'.repeat(32)}`
const PING = { head: { number: 0, hash: HASH }, earliest: 0 }
const LARGE = encodeRlp([new Uint8Array(800_000)])
const CERTIFICATE = { round: 0, bitmap: Uint8Array.of(1), seals: [new Uint8Array(65)] }
const frame = (channel: number, length: number, ...rest: readonly number[]): Uint8Array => {
  const bytes = new Uint8Array(5 + rest.length)
  new DataView(bytes.buffer).setUint32(0, length)
  bytes[4] = channel
  bytes.set(rest, 5)
  return bytes
}
const head = (id: number, requestId: number, length: number): readonly number[] => {
  const bytes = Buffer.alloc(9)
  bytes[0] = id
  bytes.writeUInt32BE(requestId, 1)
  bytes.writeUInt32BE(length, 5)
  return [...bytes]
}

describe('a peer that breaks the protocol is banned at its first bytes', () => {
  const oversize = MESSAGES.newBlock.maxBytes + 1
  test.each<[string, Uint8Array]>([
    ['a channel that is none', frame(9, 9, ...head(3, 1, 0))],
    ['a frame longer than any', frame(0, NETWORK_LIMITS.fragmentBytes + 1, 0)],
    ['a frame too short for a message', frame(0, 8, ...new Uint8Array(8))],
    ['a message in crumbs', frame(3, 10, ...head(49, 0, 100_000), 0)],
    ['a message that is none', frame(0, 9, ...head(200, 0, 0))],
    ['a message on another channel', frame(1, 9, ...head(3, 1, 0))],
    ['a message longer than its kind may be', frame(3, NETWORK_LIMITS.fragmentBytes, ...head(49, 0, oversize))],
    ['a hello after the handshake', frame(0, 9, ...head(0, 0, 0))],
    ['a request without an id', wire('getBlocks', { from: 0, count: 1 }, 0)],
    ['an announcement with an id', wire('transactionHashes', [], 1)],
    ['a payload that is no RLP', encodeFrames('control', MESSAGES.ping.id, 1, Uint8Array.of(0xff)).bytes],
    [
      'blocks beyond any range',
      encodeFrames('sync', MESSAGES.getBlocks.id, 1, Uint8Array.of(0xc3, 0x01, 0x81, 0xff)).bytes,
    ],
  ])('%s', async (_, bytes) => {
    const node = await nodes.start()
    const peer = await RawPeer.meet(node.port)
    peer.write(bytes)
    expect(await peer.closed()).toBe('malformed')
    const again = await RawPeer.connect(node.port, { key: peer.key })
    again.send('hello', again.hello())
    expect(await again.closed()).toBe('banned')
    const other = await RawPeer.meet(node.port)
    expect(node.peerIds).toEqual([other.key.id])
  })
})

describe('floods', () => {
  test('beyond a quota cost the connection', async () => {
    const node = await nodes.start()
    const peer = await RawPeer.meet(node.port)
    peer.write(concatBytes(...Array.from({ length: 200 }, (_, index) => wire('ping', PING, index + 1))))
    expect(await peer.closed()).toBe('misbehaved')
    expect(peer.said('pong').length).toBeLessThanOrEqual(MESSAGES.ping.quota.burst + 1)
  })

  test('of unrequested responses cost the connection', async () => {
    const node = await nodes.start()
    const peer = await RawPeer.meet(node.port)
    const many = encodeFrames('sync', MESSAGES.blocks.id, 77, new Uint8Array(1_000_000)).bytes
    for (let count = 0; count < 3; count++) peer.write(many)
    expect(await peer.closed()).toBe('misbehaved')
  })

  test('of connections are turned away before they cost a handshake, and others are served', async () => {
    const node = await nodes.start({ limits: { pending: 8, pendingPerAddress: 8 } })
    const friend = await RawPeer.meet(node.port)
    let refused = 0
    for (let count = 0; count < 60; count++) {
      const socket = connect(node.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.on('close', () => refused++)
      sockets.push(socket)
    }
    await until('turned away', () => refused >= 52)
    friend.send('ping', PING, 1)
    await until('served', () => friend.said('pong').length === 1)
    for (const socket of sockets) socket.destroy()
    await until('room again', () => refused === 60)
  })

  test('of connections that say nothing do not keep out who has something to say', async () => {
    const node = await nodes.start({ limits: { pending: 8, pendingPerAddress: 8 } })
    let dropped = 0
    for (let count = 0; count < 8; count++) {
      const socket = connect({ port: node.port, host: '127.0.0.1', localAddress: '127.0.0.2' })
      socket.on('error', () => {})
      socket.on('close', () => dropped++)
      sockets.push(socket)
      await new Promise(resolve => socket.once('connect', resolve))
    }
    const peer = await RawPeer.meet(node.port)
    expect(node.peerIds).toEqual([peer.key.id])
    await until('room made', () => dropped === 1)
  })

  test.each(['vote', 'proposal', 'decided'] as const)('of %s by a non-member end the connection', async name => {
    const node = await nodes.start({ member: 0, committee: 3 })
    const { channel, id } = MESSAGES[name]
    const one = encodeFrames(channel, id, 0, new Uint8Array(1_000)).bytes
    const { burst } = OUTSIDER_QUOTA
    // A validator that believes too early that it is a member sends a few messages.
    const early = await RawPeer.meet(node.port, {}, signerOf(7))
    early.write(concatBytes(...Array.from({ length: burst / 2 }, () => one)))
    early.send('ping', PING, 1)
    await until('served', () => early.said('pong').length === 1)
    const noisy = await RawPeer.meet(node.port)
    noisy.write(concatBytes(...Array.from({ length: 2 * burst }, () => one)))
    expect(await noisy.closed()).toBe('misbehaved')
    expect(node.heard).toEqual([])
    expect(node.peerIds).toEqual([early.key.id])
  })

  test('of members meet their own quota, which others do not share', async () => {
    const node = await nodes.start({ member: 0, committee: 3 })
    const [noisy, calm] = [
      await RawPeer.meet(node.port, {}, signerOf(1)),
      await RawPeer.meet(node.port, {}, signerOf(2)),
    ]
    const status = {
      type: 'status',
      number: 1,
      round: 0,
      hasProposal: false,
      prepares: new Uint8Array(1),
      commits: new Uint8Array(1),
      roundChanges: new Uint8Array(1),
      wanted: null,
    } as const
    const one = wire('status', status)
    noisy.write(concatBytes(...Array.from({ length: 2_000 }, () => one)))
    expect(await noisy.closed()).toBe('misbehaved')
    const before = node.heard.length
    expect(before).toBeLessThan(600)
    calm.write(one)
    await until('heard', () => node.heard.length === before + 1)
  })
})

/** Bytes of arrays in use, after a collection. */
const heldBytes = (): number => {
  collect()
  return process.memoryUsage().arrayBuffers
}
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

describe('who is slow', () => {
  const limits = { messageMs: 300, silenceMs: 1_500 }

  test('to say who it is loses the connection, at every step', async () => {
    const node = await nodes.start({ limits: { handshakeMs: 1_000 } })
    const plain = connect(node.port, '127.0.0.1')
    plain.on('error', () => {})
    plain.resume()
    const silent = await RawPeer.connect(node.port)
    const half = await RawPeer.connect(node.port)
    half.socket.write(half.secureChannel.records.seal(wire('hello', half.hello())).subarray(0, 50))
    const noReady = await RawPeer.connect(node.port)
    noReady.send('hello', noReady.hello())
    await until('the plain one', () => plain.destroyed)
    expect(await Promise.all([silent, half, noReady].map(peer => peer.closed()))).toEqual([
      'timeout',
      'timeout',
      'timeout',
    ])
    expect(node.network.peerCount).toBe(0)
  })

  test('to end a message loses it too, however alive it seems', async () => {
    const node = await nodes.start({ limits })
    const peer = await RawPeer.meet(node.port)
    const bytes = peer.secureChannel.records.seal(wire('newTransactions', [new Uint8Array(50_000)]))
    peer.socket.write(bytes.subarray(0, 20))
    let at = 20
    const drip = setInterval(() => peer.socket.write(bytes.subarray(at, ++at)), 20)
    expect(await peer.closed()).toBe('slow')
    clearInterval(drip)
  })

  test('to say anything at all is gone', async () => {
    const node = await nodes.start({ limits })
    const peer = await RawPeer.meet(node.port)
    expect(await peer.closed()).toBe('timeout')
    expect(node.network.peerCount).toBe(0)
  })

  test('to read anything loses the connection', async () => {
    const node = await nodes.start({ limits: { ...limits, silenceMs: 60_000 } })
    node.chain.push(...Array.from({ length: 8 }, () => ({ block: LARGE, certificate: CERTIFICATE })))
    const peer = await RawPeer.meet(node.port)
    peer.socket.pause()
    for (let id = 1; id <= 8; id++) peer.send('getBlocks', { from: 0, count: 8 }, id)
    await until('gone', () => node.network.peerCount === 0)
    expect(node.log.reasons('peer disconnected')).toEqual(['overloaded'])
  })

  test('to read leaves nothing of what was queued for it, once it is gone', async () => {
    const node = await nodes.start()
    node.chain.push(...Array.from({ length: 8 }, () => ({ block: LARGE, certificate: CERTIFICATE })))
    const hoard = async (): Promise<void> => {
      const peer = await RawPeer.meet(node.port)
      peer.socket.pause()
      // They are answered at once.
      const gate = Promise.withResolvers<void>()
      node.delay = gate.promise
      for (let id = 1; id <= 4; id++) peer.send('getBlocks', { from: 0, count: 8 }, id)
      await new Promise(resolve => setTimeout(resolve, 50))
      gate.resolve()
      await new Promise(resolve => setTimeout(resolve, 50))
      peer.close()
      await until('gone', () => node.network.peerCount === 0)
    }
    const before = heldBytes()
    for (let count = 0; count < 4; count++) await hoard()
    // 18 MiB are queued for each.
    await until('nothing held', () => heldBytes() - before < 18 * MIB)
  })

  test('to read does not make this node hold more than its queues', async () => {
    const node = await nodes.start()
    const peer = await RawPeer.meet(node.port)
    peer.socket.pause()
    const raw = (index: number) => new Uint8Array(120_000).fill(index)
    for (let index = 0; index < 200; index++) {
      node.network.announceTransactions([{ hash: `0x${index.toString(16).padStart(64, '0')}`, raw: raw(index) }])
      if (index % 10 === 9) await new Promise(resolve => setTimeout(resolve, NETWORK_LIMITS.batchMs + 5))
    }
    await new Promise(resolve => setTimeout(resolve, 50))
    peer.socket.resume()
    peer.send('ping', PING, 1)
    await until('served', () => peer.said('pong').length === 1)
    const got = peer.said('newTransactions').flatMap(({ value }) => value as readonly Uint8Array[])
    expect(got.length).toBeGreaterThan(10)
    expect(got.length).toBeLessThan(200)
  })
})

describe('what is held for strangers', () => {
  const claimed = MESSAGES.newBlock.maxBytes
  const whole = encodeFrames('sync', MESSAGES.newBlock.id, 0, new Uint8Array(claimed)).bytes
  const firstFrame = (message: Uint8Array) => message.subarray(0, 5 + NETWORK_LIMITS.fragmentBytes)
  const begun = firstFrame(whole)
  const rest = encodeFrames(
    'sync',
    MESSAGES.newBlock.id,
    0,
    new Uint8Array(NETWORK_LIMITS.partialBytes % claimed),
  ).bytes
  const transactions = [new Uint8Array(50_000).fill(1)]

  test('has one bound for all: beyond it unrequested messages are skipped, and no peer is blamed', async () => {
    const node = await nodes.start({ member: 0, committee: 2 })
    node.chain.push({ block: LARGE, certificate: CERTIFICATE })
    const hoarders: RawPeer[] = []
    for (let count = 0; count <= Math.floor(NETWORK_LIMITS.partialBytes / claimed); count++) {
      const peer = await RawPeer.meet(node.port)
      peer.write(count === 0 ? firstFrame(rest) : begun)
      peer.send('ping', PING, 1)
      await until('taken', () => peer.said('pong').length === 1)
      hoarders.push(peer)
    }
    const stranger = await RawPeer.meet(node.port)
    stranger.write(whole)
    stranger.send('newTransactions', transactions)
    stranger.send('ping', PING, 1)
    await until('served', () => stranger.said('pong').length === 1)
    expect(node.pool.received).toHaveLength(1)
    // Its sender takes for granted that this node has a batch: it is not told again.
    stranger.send(
      'newTransactions',
      [2, 3].map(fill => new Uint8Array(50_000).fill(fill)),
    )
    await until('the batch', () => node.pool.received.length === 3)
    // An answer is not for the stranger to leave out.
    const asked = node.network.request(
      'getBlocks',
      { from: 0, count: 1 },
      { among: ({ id }) => id === stranger.key.id },
    )
    await until('asked', () => stranger.said('getBlocks').length === 1)
    stranger.send('blocks', [{ block: LARGE, certificate: CERTIFICATE }], stranger.said('getBlocks')[0]?.requestId)
    expect((await asked).answer).toHaveLength(1)
    const member = await RawPeer.meet(node.port, {}, signerOf(1))
    member.write(begun)
    expect(node.network.peerCount).toBe(hoarders.length + 2)
    for (const peer of hoarders) peer.close()
    await until('gone', () => node.network.peerCount === 2)
    stranger.send('newTransactions', [new Uint8Array(120_000).fill(4)])
    await until('room again', () => node.pool.received.length === 4)
    expect(node.network.peers().map(({ score }) => score)).toEqual([0, 0])
  })
})

/** An address of this machine besides the loopback's, which counts as the operator's. */
const outside = Object.values(networkInterfaces())
  .flatMap(addresses => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address

describe.skipIf(outside === undefined)('places for strangers', () => {
  const from = outside ?? ''
  test('that one address took are freed for another one: the newest leaves, and only that', async () => {
    const node = await nodes.start({ limits: { inbound: 3 }, listen: { host: '0.0.0.0', port: 0 } })
    const meet = () => RawPeer.meet(node.port, {}, null, { from })
    const crowd = [await meet(), await meet(), await meet()]
    await expect(meet()).rejects.toThrow('tooManyPeers')
    const newcomer = await RawPeer.meet(node.port)
    expect(await crowd[2]?.closed()).toBe('tooManyPeers')
    await expect(meet()).rejects.toThrow('tooManyPeers')
    expect(node.peerIds).toEqual([...crowd.slice(0, 2), newcomer].map(peer => peer.key.id))
    expect(crowd.slice(0, 2).map(({ isClosed }) => isClosed)).toEqual([false, false])
  })
})

describe('answers that strangers do not take', () => {
  test('have one bound for all: who takes nothing for longest loses its connection, and who reads is served', async () => {
    const node = await nodes.start()
    node.chain.push(...Array.from({ length: 8 }, () => ({ block: LARGE, certificate: CERTIFICATE })))
    const before = heldBytes()
    const friend = await RawPeer.meet(node.port)
    const hoarders: RawPeer[] = []
    const gate = Promise.withResolvers<void>()
    node.delay = gate.promise
    for (let count = 0; count < 10; count++) {
      const peer = await RawPeer.meet(node.port)
      peer.socket.pause()
      for (let id = 1; id <= 4; id++) peer.send('getBlocks', { from: 0, count: 8 }, id)
      hoarders.push(peer)
    }
    gate.resolve()
    await until('gone', () => node.network.peerCount < 11)
    await until('bounded', () => heldBytes() - before < NETWORK_LIMITS.untakenBytes + 16 * MIB)
    expect(new Set(node.log.reasons('peer disconnected'))).toEqual(new Set(['overloaded']))
    await served(friend)
    expect(friend.isClosed).toBe(false)
    expect(node.network.peers().map(({ score }) => score)).not.toContain(-10)
  })
})

const served = async (friend: RawPeer): Promise<void> => {
  friend.heard.length = 0
  friend.send('getBlocks', { from: 0, count: 1 }, 1)
  await until('served', () => friend.said('blocks').length === 1)
}

/** Long with `CASES=100000`; each case is one connection that says something broken. */
const CASES = Number(process.env['CASES'] ?? 100)

describe('bytes that were changed on the way', () => {
  const random = createRandom(SEED)
  test(`never hurt the node (SEED=${SEED}, ${CASES} cases)`, { timeout: 20_000 + CASES * 200 }, async () => {
    const node = await nodes.start({ limits: { connectsPerSecond: 10_000, connectsBurst: 10_000 } })
    const friend = await RawPeer.meet(node.port)
    let inHandshake = 0
    for (let index = 0; index < CASES; index++) {
      const peer = await RawPeer.connect(node.port)
      if (random.chance(0.6)) {
        peer.send('hello', peer.hello())
        peer.send('ready', null)
        peer.write(mutate(TALK, random))
      } else {
        inHandshake++
        peer.write(mutate(concatBytes(wire('hello', peer.hello()), wire('ready', null)), random))
      }
      if (index % 200 === 0) await served(friend)
      // Most leave as they should, so that all they said arrives.
      if (random.chance(0.8)) peer.socket.end()
      else peer.close()
    }
    await served(friend)
    expect(inHandshake).toBeGreaterThan(CASES / 10)
    expect(node.log.lines.filter(({ level }) => level === 'error')).toEqual([])
    expect(node.peerIds).toContain(friend.key.id)
    const ends = node.log.lines.filter(({ message }) => message === 'peer refused' || message === 'peer disconnected')
    expect(ends.filter(({ fields }) => fields['reason'] === 'malformed').length).toBeGreaterThan(CASES / 4)
  })
})

describe('a node without a free place', () => {
  test('gives a newcomer records all the same, which it dials', async () => {
    const friend = await nodes.start()
    const full = await nodes.start({ bootnodes: [friend.address], limits: { inbound: 0 } })
    await until('connected', () => full.network.peerCount === 1)
    const stranger = await RawPeer.connect(full.port)
    stranger.send('hello', stranger.hello())
    expect(await stranger.closed()).toBe('tooManyPeers')
    // Its own and that of the friend.
    expect(stranger.said('records')).toMatchObject([{ value: [expect.anything(), expect.anything()] }])
    const newcomer = await nodes.start({ bootnodes: [full.address] })
    await until('another place', () => newcomer.peerIds.includes(friend.id))
  })

  test('keeps places for handshakes of addresses from which members were connected', async () => {
    const limits = { connectsBurst: 2, connectsPerSecond: 0.001 }
    const node = await nodes.start({ member: 0, committee: 2, limits })
    const member = await RawPeer.meet(node.port, {}, signerOf(1), { from: '127.0.0.5' })
    // Strangers behind the same address have used up its rate.
    await RawPeer.connect(node.port, { from: '127.0.0.5' }).catch(() => undefined)
    await RawPeer.connect(node.port, { from: '127.0.0.6' })
    await RawPeer.connect(node.port, { from: '127.0.0.6' })
    await expect(RawPeer.connect(node.port, { from: '127.0.0.6' })).rejects.toThrow()
    member.close()
    await until('gone', () => !node.peerIds.includes(member.key.id))
    await RawPeer.meet(node.port, {}, signerOf(1), { key: member.key, from: '127.0.0.5' })
  })
})
