import { afterEach, describe, expect, test } from 'vitest'
import { generateNodeKey } from '../../../src/network/transport/node-key.ts'
import { NetNodes, until } from '../../support/network/net-node.ts'

const nodes = new NetNodes()
afterEach(() => nodes.stop())

describe('nodes meet', () => {
  test('by an address, and both know who the other is', async () => {
    const first = await nodes.start()
    const second = await nodes.start({ staticPeers: [first.address] })
    await until('connected', () => first.network.peerCount === 1 && second.network.peerCount === 1)
    expect(first.peerIds).toEqual([second.id])
    expect(second.peerIds).toEqual([first.id])
    expect(second.network.peers()[0]).toMatchObject({
      inbound: false,
      place: 'reserved',
      isStatic: true,
      client: 'tandem/test',
    })
    expect(first.network.peers()[0]).toMatchObject({ inbound: true, place: 'inbound', isStatic: false })
  })

  test('all of them, when each knows one', async () => {
    const first = await nodes.start()
    for (let index = 0; index < 4; index++) await nodes.start({ bootnodes: [first.address] })
    await until('a full mesh', () => nodes.nodes.every(({ network }) => network.peerCount === 4))
  })

  test('once, when they dial each other at the same moment', async () => {
    const keys = [generateNodeKey(), generateNodeKey()]
    const [first, second] = [await nodes.start({ nodeKey: keys[0]! }), await nodes.start({ nodeKey: keys[1]! })]
    first.network.addPeer(second.address)
    second.network.addPeer(first.address)
    // Both agree on which of the two connections it is.
    const isOne = (): boolean =>
      first.network.peerCount === 1 &&
      second.network.peerCount === 1 &&
      first.network.peers()[0]?.inbound === !second.network.peers()[0]?.inbound
    await until('one connection', isOne)
    await new Promise(resolve => setTimeout(resolve, 300))
    await until('one connection that stays', isOne)
    for (const { log } of nodes.nodes) expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([])
  })

  test('not twice with one node key: a process that loses its peers to a second one tells it', async () => {
    const bootnodes = [(await nodes.start()).address, (await nodes.start()).address]
    const nodeKey = generateNodeKey()
    const first = await nodes.start({ nodeKey, bootnodes })
    await until('connected', () => first.network.peerCount === 2)
    const second = await nodes.start({ nodeKey, bootnodes })
    const told = () => [first, second].flatMap(({ log }) => log.lines.filter(({ level }) => level === 'warn'))
    await until('a warning', () => told().length > 0)
    expect(told()[0]).toMatchObject({
      message: 'another node runs with the node-key.pem of this one: peers keep only one of the two',
      fields: { id: first.id },
    })
  })
})
