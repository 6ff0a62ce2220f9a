import type { Hex } from '@tandem/base/bytes.ts'
import { afterEach, describe, expect, test } from 'vitest'
import type { ServePort, SyncPort } from '../../../src/network/messages/ports.ts'
import { blockCodec, GENESIS_HASH, makeBlock } from '../../support/consensus/ledger.ts'
import { signerOf } from '../../support/consensus/member.ts'
import { type NetNode, type NetNodeOptions, NetNodes, RawPool, until } from '../../support/network/net-node.ts'
import { RawPeer } from '../../support/network/raw-peer.ts'

/*
 * Exceptions in handlers of peers' messages: an uncaught one, or a rejection that nobody takes, fails the whole run of these tests, as
 * it would end the process of a node.
 */
const nodes = new NetNodes()
afterEach(() => nodes.stop())

const HASH: Hex = `0x${'ab'.repeat(32)}`
const CERTIFICATE = { round: 0, bitmap: Uint8Array.of(1), seals: [new Uint8Array(65)] }
const pingAt = (number: number) => ({ head: { number: 7 + number, hash: HASH }, earliest: 0 })
const PING = pingAt(0)
const encoded = () =>
  blockCodec.encode(makeBlock({ number: 1, parentHash: GENESIS_HASH, timestamp: 1 }, HASH.slice(0, 42) as Hex, null, 0))
const fail = (): never => {
  throw new TypeError('a fault of this node')
}
const later = async (): Promise<never> => {
  await new Promise(resolve => setTimeout(resolve, 1))
  return fail()
}

const scoreOf = (node: NetNode, peer: RawPeer) =>
  node.network.peers().find(({ id }) => id === peer.key.id)?.score ?? -100
const faults = (node: NetNode) => node.log.lines.filter(({ message }) => message === 'message of a peer not handled')

class BrokenPool extends RawPool {
  override receive = async (raws: readonly Uint8Array[]) => {
    if (raws.some(raw => raw[0] === 0xbb)) await later()
    return raws.map(() => 'accepted' as const)
  }
}

const brokenServe = { receipts: later, manifest: fail, chunk: later, codes: fail } as unknown as Partial<ServePort>
const brokenSync: SyncPort = { onBlock: fail, onHead: fail }

interface Case extends NetNodeOptions {
  readonly say: (peer: RawPeer, count: number) => void
  readonly isMember?: boolean
  readonly breaks?: (node: NetNode) => void
}

describe('an exception in the handler of a message affects only its peer', () => {
  test.each<[string, Case]>([
    ['a question', { serve: brokenServe, say: peer => peer.send('getReceipts', [HASH], 1) }],
    ['a question whose answer is ready', { serve: brokenServe, say: peer => peer.send('getManifest', null, 1) }],
    ['a ping', { sync: brokenSync, say: (peer, count) => peer.send('ping', pingAt(count), 1) }],
    [
      'an announced block',
      { sync: brokenSync, say: peer => peer.send('newBlockHash', { number: 1, hash: HASH, certificate: CERTIFICATE }) },
    ],
    [
      'a pushed block',
      { sync: brokenSync, say: peer => peer.send('newBlock', { block: encoded(), certificate: CERTIFICATE }) },
    ],
    [
      'evidence',
      {
        breaks: node => void node.network.evidence.onReceived(fail),
        say: peer => peer.send('evidence', Uint8Array.of(1)),
      },
    ],
    [
      'a vote',
      {
        isMember: true,
        breaks: node => void node.network.consensus.onMessage(fail),
        say: peer =>
          peer.send('vote', {
            type: 'prepare',
            number: 1,
            round: 0,
            blockHash: HASH,
            sender: 1,
            signature: new Uint8Array(65),
          }),
      },
    ],
    [
      'a block whose claim is judged',
      {
        isMember: true,
        hears: false,
        breaks: node => void node.network.consensus.onMessage(() => {}, fail),
        say: peer => peer.send('body', encoded()),
      },
    ],
    [
      'a block that is decoded',
      { isMember: true, blocks: { ...blockCodec, decode: later }, say: peer => peer.send('body', encoded()) },
    ],
    [
      'a decoded block',
      {
        isMember: true,
        breaks: node => void node.network.consensus.onMessage(fail),
        say: peer => peer.send('decided', { block: encoded(), certificate: CERTIFICATE }),
      },
    ],
    [
      'a transaction',
      {
        pool: new BrokenPool(),
        say: (peer, count) => peer.send('newTransactions', [new Uint8Array(100 + count).fill(0xbb)]),
      },
    ],
  ])('%s', async (_, { say, isMember = false, breaks, ...options }) => {
    const node = await nodes.start({ member: 0, committee: 3, ...options })
    breaks?.(node)
    const friend = await RawPeer.meet(node.port, {}, signerOf(2))
    const peer = await RawPeer.meet(node.port, {}, isMember ? signerOf(1) : null)
    say(peer, 0)
    await until('blamed', () => scoreOf(node, peer) < -9)
    expect(faults(node)).toHaveLength(1)
    expect(faults(node)[0]?.fields['peer']).toBe(peer.key.id)
    // Again and again: the peer goes, and the log does not grow.
    for (let count = 1; count <= 5; count++) say(peer, count)
    expect(await peer.closed()).toBe('misbehaved')
    expect(faults(node)).toHaveLength(1)
    expect(node.peerIds).toEqual([friend.key.id])
    expect(scoreOf(node, friend)).toBe(0)
  })

  test('an answer', async () => {
    const node = await nodes.start({ sync: { onBlock: () => {}, onHead: fail } })
    const peer = await RawPeer.meet(node.port)
    await until('asked', () => peer.said('ping').length > 0)
    peer.send('pong', PING, peer.said('ping')[0]?.requestId)
    await until('blamed', () => faults(node).length === 1)
  })

  test('of the pool: of several senders the one at fault', async () => {
    const node = await nodes.start({ pool: new BrokenPool() })
    const [friend, peer] = [await RawPeer.meet(node.port), await RawPeer.meet(node.port)]
    friend.send('newTransactions', [new Uint8Array(100).fill(1)])
    peer.send('newTransactions', [new Uint8Array(100).fill(0xbb)])
    await until('blamed', () => scoreOf(node, peer) < -9)
    expect(scoreOf(node, friend)).toBe(0)
  })

  test('in the log, however many peers: a bounded number of lines', async () => {
    const node = await nodes.start({ sync: brokenSync })
    for (let count = 0; count < 14; count++) {
      const peer = await RawPeer.meet(node.port)
      peer.send('ping', PING, 1)
      await until('blamed', () => scoreOf(node, peer) < -9)
    }
    expect(faults(node).length).toBeLessThan(12)
  })
})
