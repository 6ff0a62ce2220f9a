import { afterEach, describe, expect, test } from 'vitest'
import { NETWORK_LIMITS } from '../../../src/config/limits/network.ts'
import { Metrics } from '../../../src/metrics/registry.ts'
import { parsePeerUrl } from '../../../src/network/identity/peer-url.ts'
import type { Hello } from '../../../src/network/messages/control-messages.ts'
import { generateNodeKey } from '../../../src/network/transport/node-key.ts'
import { signerOf } from '../../support/consensus/member.ts'
import { type NetNode, NetNodes, until } from '../../support/network/net-node.ts'
import { RawPeer } from '../../support/network/raw-peer.ts'

const nodes = new NetNodes()
afterEach(() => nodes.stop())

describe('an operator', () => {
  test('adds a node by the address it says of itself, and removes it', async () => {
    const [first, second] = [await nodes.start(), await nodes.start({ discovers: false })]
    const { url } = first.network.self()
    expect(url).toBe(`tandem://${first.id}@127.0.0.1:${first.port}`)
    second.network.addPeer(parsePeerUrl(url as string))
    await until('connected', () => first.network.peerCount === 1 && second.network.peerCount === 1)
    expect(second.network.removePeer(first.id)).toBe(true)
    await until('gone', () => first.network.peerCount === 0)
    expect(first.log.reasons('peer disconnected')).toEqual(['removed'])
    expect(second.network.removePeer(first.id)).toBe(false)
  })

  test('who adds a banned node forgets what it did', async () => {
    const key = generateNodeKey()
    const node = await nodes.start({ discovers: false })
    const bad = await RawPeer.connect(node.port, { key })
    bad.write(new Uint8Array(50).fill(255))
    await bad.closed()
    const reformed = await nodes.start({ nodeKey: key, discovers: false })
    node.network.addPeer(reformed.address)
    await until('connected', () => node.network.peerCount === 1)
  })

  test('who adds a banned member lifts the ban of its key too', async () => {
    const nodeKey = generateNodeKey()
    const node = await nodes.start({ member: 0, committee: 2, discovers: false })
    const bad = await RawPeer.meet(node.port, {}, signerOf(1), { key: nodeKey })
    bad.write(new Uint8Array(50).fill(255))
    await bad.closed()
    const reformed = await nodes.start({ nodeKey, member: 1, committee: 2, discovers: false })
    node.network.addPeer(reformed.address)
    await until('connected', () => node.peerIds.includes(nodeKey.id))
    expect(node.network.peers().map(({ validator }) => validator)).toEqual([signerOf(1).address])
  })

  test('names a bounded number of nodes', async () => {
    const node = await nodes.start({ listen: null })
    for (let count = 0; count < NETWORK_LIMITS.staticPeers; count++)
      node.network.addPeer({ id: count.toString(16).padStart(64, '0'), host: '127.0.0.1', port: 1 })
    expect(() => node.network.addPeer({ id: 'f'.repeat(64), host: '127.0.0.1', port: 1 })).toThrow(
      /TOO_MANY_STATIC_PEERS/,
    )
    expect(node.network.isListening).toBe(false)
    expect(node.network.self()).toMatchObject({ url: null, listening: null })
  })

  test('gets an error when a port is in use', async () => {
    const first = await nodes.start()
    await expect(nodes.start({ listen: { host: '127.0.0.1', port: first.port } })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    })
  })

  test('reads the network in the metrics', async () => {
    const metrics = new Metrics()
    const node = await nodes.start({ metrics, member: 0, committee: 2 })
    const member = await RawPeer.meet(node.port, {}, signerOf(1))
    const bad = await RawPeer.connect(node.port)
    bad.write(new Uint8Array(50).fill(255))
    await bad.closed()
    node.network.evidence.broadcast(Uint8Array.of(1))
    await until('sent', () => member.said('evidence').length === 1)
    member.close()
    await until('gone', () => node.network.peerCount === 0)
    const text = await metrics.render()
    for (const line of [
      'network_inbound_peers 0',
      'network_connections_total{direction="inbound",result="connected"} 1',
      'network_connections_total{direction="inbound",result="malformed"} 1',
      'network_messages_total{event="sent",message="evidence"} 1',
      'network_penalties_total{offence="malformed"} 1',
      'network_bans_total 1',
    ])
      expect(text).toContain(line)
    expect(text).toMatch(/network_bytes_total\{direction="sent"\} [1-9]/)
  })
})

describe('places', () => {
  test('follow the council and the word of the operator', async () => {
    const members = new Set([signerOf(0).address])
    const node = await nodes.start({ member: 0, members })
    const peer = await nodes.start({ member: 1, members, staticPeers: [node.address] })
    const place = () => node.network.peers()[0]?.place
    await until('connected', () => place() === 'inbound')
    members.add(signerOf(1).address)
    await until('a member', () => place() === 'reserved')
    members.delete(signerOf(1).address)
    await until('a stranger', () => place() === 'inbound')
    node.network.addPeer(peer.address)
    await until('named', () => place() === 'reserved')
  })

  test('are reserved for no more than there are', async () => {
    const members = new Set([0, 1, 2].map(index => signerOf(index).address))
    const node = await nodes.start({ member: 0, members, limits: { reserved: 1 } })
    members.clear()
    await nodes.start({ member: 1, members, staticPeers: [node.address] })
    await nodes.start({ member: 2, members, staticPeers: [node.address] })
    await until('connected', () => node.network.peerCount === 2)
    for (const index of [1, 2]) members.add(signerOf(index).address)
    await until('one', () => node.network.peers().some(({ place: peerSlot }) => peerSlot === 'reserved'))
    await new Promise(resolve => setTimeout(resolve, 1_200))
    expect(node.network.peers().filter(({ place: peerSlot }) => peerSlot === 'reserved')).toHaveLength(1)
  })
})

describe('members', () => {
  test('find each other by records that say for whom a node speaks, beyond the places for others', async () => {
    const limits = { outbound: 1, inbound: 40, backoffMs: 50 }
    const boot = await nodes.start({ limits: { ...limits, inbound: 40 } })
    const committee = 4
    for (let member = 0; member < committee; member++)
      await nodes.start({ member, committee, limits, bootnodes: [boot.address] })
    const members = nodes.nodes.slice(1)
    const ids = members.map(({ id }) => id)
    await until('a mesh of members', () =>
      members.every(({ id, peerIds }) => ids.every(other => other === id || peerIds.includes(other))),
    )
  })

  test('that stop are reconnected when they come back', async () => {
    const nodeKey = generateNodeKey()
    const first = await nodes.start({ member: 0, committee: 2 })
    const second = await nodes.start({ nodeKey, member: 1, committee: 2, staticPeers: [first.address] })
    await until('connected', () => first.network.peerCount === 1)
    const port = second.port
    await second.network.stop()
    await until('gone', () => first.network.peerCount === 0)
    expect(first.log.reasons('peer disconnected')).toEqual(['stopping'])
    await nodes.start({ nodeKey, member: 1, committee: 2, listen: { host: '127.0.0.1', port } })
    await until('back, by its record', () => first.network.peerCount === 1)
  })
})

test('what one node counts as sent, the other one counts as received', async () => {
  const first = await nodes.start()
  const second = await nodes.start({ staticPeers: [first.address] })
  const counts = (node: NetNode) => node.network.peers()[0]
  await until('connected', () => first.peerIds.length > 0 && second.peerIds.length > 0)
  await until('the same in both directions', () => {
    const [one, other] = [counts(first), counts(second)]
    return one?.sentBytes === other?.receivedBytes && other?.sentBytes === one?.receivedBytes
  })
})

describe('a validator proves its key', () => {
  const told = async (node: NetNode, key = generateNodeKey()) => {
    const peer = await RawPeer.connect(node.port, { key })
    await until('greeted', () => peer.said('hello').length > 0)
    return peer.said('hello').map(({ value }) => (value as Hello).proof?.address ?? null)[0]
  }
  const validator = { member: 0, committee: 2, discovers: false } as const

  test('behind sentries to those and to static peers', async () => {
    const [sentry, friend] = [generateNodeKey(), generateNodeKey()]
    const node = await nodes.start({ ...validator, relays: [sentry.id] })
    expect(await told(node)).toBeNull()
    expect(await told(node, sentry)).toBe(signerOf(0).address)
    expect(await told(node, friend)).toBeNull()
    node.network.addPeer({ id: friend.id, host: '127.0.0.1', port: 1 })
    expect(await told(node, friend)).toBe(signerOf(0).address)
  })

  test('without sentries to whoever dials it: members may name each other on one side', async () => {
    expect(await told(await nodes.start(validator))).toBe(signerOf(0).address)
  })
})
