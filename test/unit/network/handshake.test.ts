import { CodedError } from '@tandem/base/errors.ts'
import { afterEach, describe, expect, test } from 'vitest'
import { proveValidator } from '../../../src/network/identity/validator-proof.ts'
import type { Hello } from '../../../src/network/messages/control-messages.ts'
import { MESSAGES, NETWORK_PROTOCOL_VERSION } from '../../../src/network/messages/messages.ts'
import { generateNodeKey } from '../../../src/network/transport/node-key.ts'
import { encodeFrames } from '../../../src/network/wire/frames.ts'
import { encodeRlp, uintItem } from '../../../src/primitives/rlp/rlp.ts'
import { DOMAIN, signerOf } from '../../support/consensus/member.ts'
import { type NetNode, type NetNodeOptions, NetNodes, until } from '../../support/network/net-node.ts'
import { RawPeer, wire } from '../../support/network/raw-peer.ts'

const nodes = new NetNodes()
afterEach(() => nodes.stop())

test('nodes of another genesis: one warning with both hashes, and the dialing node keeps the other hash', async () => {
  const other = `0x${'22'.repeat(32)}` as const
  const first = await nodes.start()
  const second = await nodes.start({ genesisHash: other, staticPeers: [first.address] })
  const warnings = (node: NetNode) => node.log.lines.filter(({ level }) => level === 'warn')
  await until('warned', () => warnings(first).length > 0 && warnings(second).length > 0)
  expect(warnings(second)[0]).toMatchObject({
    message: expect.stringContaining('the genesis hashes differ'),
    fields: { genesis: other, theirs: DOMAIN.genesisHash },
  })
  expect(warnings(first)[0]).toMatchObject({ fields: { genesis: DOMAIN.genesisHash, theirs: other } })
  expect(second.network.foreignGenesis).toBe(DOMAIN.genesisHash)
  expect(first.network.foreignGenesis, 'a stranger that dials proves nothing').toBeNull()
  second.network.removePeer(first.id)
  second.network.addPeer(first.address)
  await until('refused again', () => first.log.lines.filter(({ message }) => message === 'peer refused').length > 1)
  expect(warnings(first).length, 'once a minute').toBe(1)
})

describe('both sides are told why', () => {
  const other = `0x${'22'.repeat(32)}` as const
  test.each<[string, NetNodeOptions, string]>([
    ['another genesis', { genesisHash: other }, 'wrongGenesis'],
    ['another chain', { chainId: 5 }, 'wrongChain'],
    [
      'other forks',
      {
        forks: [
          { name: 'prague', height: 0 },
          { name: 'nativeHash', height: 21 },
        ],
      },
      'wrongForks',
    ],
  ])('%s', async (_, options, reason) => {
    const first = await nodes.start()
    const second = await nodes.start({ ...options, staticPeers: [first.address] })
    await until('refused', () => [first, second].every(({ log }) => log.reasons('peer refused').length > 0))
    for (const { log } of [first, second]) expect(log.reasons('peer refused')).toEqual([reason])
    expect([first.network.peerCount, second.network.peerCount]).toEqual([0, 0])
  })

  test('a full node', async () => {
    const first = await nodes.start({ limits: { inbound: 1 } })
    const guest = await RawPeer.meet(first.port)
    const second = await nodes.start({ bootnodes: [first.address] })
    await until('refused', () => second.log.reasons('peer refused').length > 0)
    expect(second.log.reasons('peer refused')[0]).toBe('tooManyPeers')
    expect(first.log.reasons('peer refused')[0]).toBe('tooManyPeers')
    expect(first.peerIds).toEqual([guest.key.id])
  })

  test('another node at that address', async () => {
    const first = await nodes.start()
    const second = await nodes.start({ staticPeers: [{ ...first.address, id: generateNodeKey().id }] })
    await until('refused', () => second.log.reasons('peer refused').length > 0)
    expect(second.log.reasons('peer refused')).toEqual(['wrongIdentity'])
  })

  test('itself', async () => {
    const first = await nodes.start()
    first.network.addPeer(first.address)
    await until('refused', () => first.log.reasons('peer refused').length >= 2)
    expect(new Set(first.log.reasons('peer refused'))).toEqual(new Set(['self']))
    const levels = first.log.lines.filter(({ message }) => message === 'peer refused').map(({ level }) => level)
    expect(new Set(levels), 'nothing for a person to act on').toEqual(new Set(['debug']))
  })
})

describe('a proof of a validator key', () => {
  const start = () => nodes.start({ committee: 4, member: 0 })
  const refusedWith = async (node: NetNode, peer: RawPeer) => {
    const reason = await peer.closed()
    expect(node.network.peerCount).toBe(0)
    return reason
  }

  test('gives a reserved place', async () => {
    const node = await start()
    const peer = await RawPeer.meet(node.port, {}, signerOf(1))
    await until('connected', () => node.network.peerCount === 1)
    expect(node.network.peers()[0]).toMatchObject({ place: 'reserved', validator: signerOf(1).address })
    peer.close()
  })

  test('of a non-member gives none', async () => {
    const node = await start()
    await RawPeer.meet(node.port, {}, signerOf(9))
    await until('connected', () => node.network.peerCount === 1)
    expect(node.network.peers()[0]).toMatchObject({ place: 'inbound', validator: signerOf(9).address })
  })

  test.each([
    ['by another key', (peer: RawPeer) => ({ ...peer.prove(signerOf(2)), address: signerOf(1).address })],
    ['of another connection', (peer: RawPeer) => proveValidator(signerOf(1), DOMAIN, peer.key.id, new Uint8Array(32))],
    [
      'for another chain',
      (peer: RawPeer) =>
        proveValidator(signerOf(1), { ...DOMAIN, chainId: 1 }, peer.key.id, peer.secureChannel.binding),
    ],
    [
      'for another node',
      (peer: RawPeer) => proveValidator(signerOf(1), DOMAIN, generateNodeKey().id, peer.secureChannel.binding),
    ],
    ['of a record', (peer: RawPeer) => proveValidator(signerOf(1), DOMAIN, peer.key.id, null)],
  ])('%s is refused, and its node is banned', async (_, proofOf) => {
    const node = await start()
    const peer = await RawPeer.connect(node.port)
    peer.send('hello', peer.hello({ proof: proofOf(peer) }))
    expect(await refusedWith(node, peer)).toBe('badProof')
    const again = await RawPeer.connect(node.port, { key: peer.key })
    again.send('hello', again.hello())
    expect(await refusedWith(node, again)).toBe('banned')
  })

  test("that is the node's own, sent back, is refused", async () => {
    const node = await start()
    const peer = await RawPeer.connect(node.port)
    await until('its hello', () => peer.said('hello').length > 0)
    const [theirs] = peer.said('hello').map(({ value }) => value as Hello)
    peer.send('hello', peer.hello({ proof: theirs?.proof ?? null }))
    expect(await refusedWith(node, peer)).toBe('badProof')
  })

  test("that another node holds this node's key is reported", async () => {
    const node = await start()
    await RawPeer.meet(node.port, {}, signerOf(0))
    await until('reported', () => node.log.lines.some(({ level }) => level === 'error'))
    expect(node.log.lines.find(({ level }) => level === 'error')?.message).toMatch(/validator key/)
  })
})

test('a later version is told so, whatever its hello holds besides, and is not banned', async () => {
  const node = await nodes.start()
  for (let count = 0; count < 2; count++) {
    const peer = await RawPeer.connect(node.port)
    const payload = encodeRlp([uintItem(NETWORK_PROTOCOL_VERSION + 1), [uintItem(7)], new Uint8Array(100)])
    peer.write(encodeFrames('control', MESSAGES.hello.id, 0, payload).bytes)
    expect(await peer.closed()).toBe('wrongVersion')
  }
})

test.each([
  ['an unexpected one', new TypeError('a fault of this node')],
  ['an expected one', new CodedError({ code: 'ROW_DAMAGED' })],
])('a failure of this node in a handshake ends it, is logged and bans nobody: %s', async (_, failure) => {
  let isBroken = false
  const head = () => {
    if (isBroken) throw failure
    return { number: 0, hash: DOMAIN.genesisHash }
  }
  const node = await nodes.start({ head })
  const peer = await RawPeer.connect(node.port)
  await until('greeted', () => peer.said('hello').length > 0)
  isBroken = true
  peer.send('hello', peer.hello())
  expect(await peer.closed()).toBe('misbehaved')
  isBroken = false
  const faults = node.log.lines.filter(({ message }) => message === 'message of a peer not handled')
  expect(faults.map(({ fields }) => fields['err'])).toEqual([failure])
  await RawPeer.meet(node.port, {}, null, { key: peer.key })
  expect(node.network.peers().map(({ id, score }) => [id, score])).toEqual([[peer.key.id, 0]])
})

describe('malformed handshakes', () => {
  test.each([
    [
      'a hello of another node',
      (peer: RawPeer) => wire('hello', peer.hello({ nodeId: generateNodeKey().id })),
      'wrongIdentity',
    ],
    [
      'another version',
      (peer: RawPeer) => wire('hello', peer.hello({ version: NETWORK_PROTOCOL_VERSION + 1 })),
      'wrongVersion',
    ],
    [
      'a ping first',
      () => wire('ping', { head: { number: 0, hash: DOMAIN.genesisHash }, earliest: 0 }, 1),
      'malformed',
    ],
    ['ready first', () => wire('ready', null), 'malformed'],
    [
      'two hellos',
      (peer: RawPeer) => Buffer.concat([wire('hello', peer.hello()), wire('hello', peer.hello())]),
      'malformed',
    ],
    ['noise', () => Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'), 'malformed'],
  ])('%s', async (_, bytesOf, reason) => {
    const node = await nodes.start()
    const peer = await RawPeer.connect(node.port)
    peer.write(bytesOf(peer))
    expect(await peer.closed()).toBe(reason)
    expect(node.network.peerCount).toBe(0)
  })
})
