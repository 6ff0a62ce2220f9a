import type { Hex } from '@tandem/base/bytes.ts'
import { afterEach, describe, expect, test } from 'vitest'
import { NETWORK_LIMITS } from '../../../src/config/limits/network.ts'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import { Metrics } from '../../../src/metrics/registry.ts'
import type { NewTransaction } from '../../../src/network/gossip/transaction-gossip.ts'
import { MESSAGES } from '../../../src/network/messages/messages.ts'
import { generateNodeKey } from '../../../src/network/transport/node-key.ts'
import { encodeBlock } from '../../../src/primitives/block.ts'
import type { Prepare } from '../../../src/primitives/consensus/vote.ts'
import { decodeTransaction } from '../../../src/primitives/transaction/transaction.ts'
import { GENESIS_HASH, makeBlock } from '../../support/consensus/ledger.ts'
import { signerOf } from '../../support/consensus/member.ts'
import { type NetNode, type NetNodeOptions, NetNodes, RawPool, until } from '../../support/network/net-node.ts'
import { RawPeer } from '../../support/network/raw-peer.ts'

const nodes = new NetNodes()
afterEach(() => nodes.stop())

const HASH: Hex = `0x${'ab'.repeat(32)}`
const vote = (sender: number, round = 0): Prepare => ({
  type: 'prepare',
  number: 1,
  round,
  blockHash: HASH,
  sender,
  signature: new Uint8Array(65).fill(round),
})
const transaction = (first: number, fill: number, size = 100): NewTransaction => {
  const raw = new Uint8Array(size).fill(fill)
  raw[0] = first
  return { hash: keccak256Hex(raw), raw }
}
const CERTIFICATE = { round: 0, bitmap: Uint8Array.of(1), seals: [new Uint8Array(65)] }
const block = (number: number) =>
  makeBlock({ number, parentHash: GENESIS_HASH, timestamp: number }, HASH.slice(0, 42) as Hex, null, 0)
const sealed = (number: number) => ({ block: encodeBlock(block(number)), certificate: CERTIFICATE })

/** Committee members in a full mesh, the last with options of its own. */
const committee = async (size: number, last: NetNodeOptions = {}): Promise<readonly NetNode[]> => {
  const members: NetNode[] = []
  for (let member = 0; member < size; member++) {
    const staticPeers = members.map(({ address }) => address)
    const more = member === size - 1 ? last : {}
    members.push(await nodes.start({ member, committee: size, staticPeers, ...more }))
  }
  await until('a mesh', () => members.every(({ network }) => network.peerCount === size - 1))
  return members
}
const votesOf = (node: NetNode) => node.heard.filter(({ message }) => message.type === 'prepare')

describe('consensus', () => {
  test('reaches every member once, and nothing is relayed in a full mesh', async () => {
    const members = await committee(4)
    // Until all know that all reach all, somebody may pass a vote on.
    let round = 0
    const heardBy = (node: NetNode) =>
      votesOf(node).filter(({ message }) => 'round' in message && message.round === round)
    const isHeardOnce = async (): Promise<boolean> => {
      members[0]?.network.consensus.broadcast(vote(0, ++round))
      await until('heard', () => members.slice(1).every(node => heardBy(node).length > 0))
      await new Promise(resolve => setTimeout(resolve, 50))
      return members.slice(1).every(node => heardBy(node).length === 1)
    }
    // Twice in a row: what one of them passed on may come late.
    for (let times = 0; times < 2; times = (await isHeardOnce()) ? times + 1 : 0) expect(round).toBeLessThan(50)
    for (const node of members.slice(1))
      expect(heardBy(node)).toEqual([{ message: vote(0, round), from: members[0]?.id }])
  })

  test('carries each kind of message, blocks decoded', async () => {
    const [first, second] = (await committee(2)) as [NetNode, NetNode]
    const one = block(1)
    const status = {
      type: 'status',
      number: 1,
      round: 0,
      hasProposal: true,
      prepares: Uint8Array.of(1),
      commits: Uint8Array.of(2),
      roundChanges: Uint8Array.of(3),
      wanted: HASH,
    } as const
    const proposal = { ...vote(0), type: 'proposal', block: one, roundChanges: [], prepares: [] } as const
    const { blockHash: _, ...signed } = proposal
    const messages = [
      status,
      signed,
      { type: 'body', block: one },
      { type: 'decided', block: one, certificate: CERTIFICATE },
    ] as const
    for (const message of messages) first.network.consensus.send(second.id, message)
    await until('heard', () => second.heard.length === messages.length)
    for (const message of messages) expect(second.heard.map(({ message: heard }) => heard)).toContainEqual(message)
  })

  test('goes around a missing connection, once, and only what was found right', async () => {
    // A chain: 0 - 1 - 2.
    const keys = { committee: 3, discovers: false }
    const middle = await nodes.start({ ...keys, member: 1 })
    const [left, right] = [
      await nodes.start({ ...keys, member: 0, staticPeers: [middle.address] }),
      await nodes.start({ ...keys, member: 2, staticPeers: [middle.address] }),
    ]
    const all = [0, 1, 2].map(index => signerOf(index).address)
    await until(
      'links',
      () => left.network.consensus.reachable(all) === 2 && right.network.consensus.reachable(all) === 2,
    )
    left.network.consensus.broadcast(vote(0))
    await until('relayed', () => votesOf(right).length === 1)
    expect(votesOf(right)[0]).toEqual({ message: vote(0), from: middle.id })
    // The same again at once is the author's repetition: the middle one hears it, but does not pass it on yet.
    left.network.consensus.broadcast(vote(0))
    await until('heard', () => votesOf(middle).length === 2)
    middle.verdict = 'ignore'
    left.network.consensus.broadcast(vote(0, 1))
    await until('heard', () => votesOf(middle).length === 3)
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(votesOf(right)).toHaveLength(1)
    expect(votesOf(left)).toHaveLength(0)
  })

  test('reaches a validator that hides behind a relay', async () => {
    const sentry = await nodes.start({ committee: 2 })
    const relays = [sentry.id]
    const hidden = await nodes.start({
      ...{ committee: 2, member: 0, relays, listen: null, discovers: false },
      staticPeers: [sentry.address],
    })
    const open = await nodes.start({ committee: 2, member: 1, relays, bootnodes: [sentry.address] })
    const all = [0, 1].map(index => signerOf(index).address)
    await until(
      'reach',
      () => hidden.network.consensus.reachable(all) === 1 && open.network.consensus.reachable(all) === 1,
    )
    hidden.network.consensus.broadcast(vote(0))
    open.network.consensus.broadcast(vote(1))
    await until('both ways', () => votesOf(open).length === 1 && votesOf(hidden).length === 1)
    expect(open.peerIds).toEqual([sentry.id])
    expect(hidden.network.self().url).toBeNull()
  })

  test('validators behind two relays know that they are not cut off, and their relays speak for both', async () => {
    const keys = { committee: 2, discovers: false }
    const nodeKey = generateNodeKey()
    const first = await nodes.start({ ...keys, relays: [nodeKey.id] })
    const second = await nodes.start({ ...keys, nodeKey, relays: [first.id], staticPeers: [first.address] })
    const left = await nodes.start({
      ...keys,
      member: 0,
      relays: [first.id],
      listen: null,
      staticPeers: [first.address],
    })
    const right = await nodes.start({
      ...keys,
      member: 1,
      relays: [second.id],
      listen: null,
      staticPeers: [second.address],
    })
    const all = [0, 1].map(index => signerOf(index).address)
    await until('reach', () => [left, right].every(({ network }) => network.consensus.reachable(all) === 1))
    left.network.consensus.broadcast(vote(0))
    await until('there', () => votesOf(right).length === 1)
    expect(right.network.consensus.speaker(second.id)?.speaksFor).toEqual(expect.arrayContaining(all))
    expect(second.network.consensus.speaker(right.id)?.speaksFor).toEqual([all[1]])
    expect(right.network.consensus.speaker(left.id)).toBeUndefined()
    await right.network.stop()
    await until('gone', () => left.network.consensus.reachable(all) === 0)
  })

  test('is not for strangers, in neither direction', async () => {
    const node = await nodes.start({ member: 0, committee: 2 })
    const stranger = await RawPeer.meet(node.port)
    stranger.send('vote', vote(1))
    stranger.send('newBlockHash', { number: 1, hash: HASH, certificate: CERTIFICATE })
    node.network.consensus.broadcast(vote(0))
    await until('the other message', () => node.blocks.length === 1)
    expect(node.heard).toEqual([])
    expect(stranger.said('vote')).toEqual([])
    expect(node.network.peers()[0]?.score, 'it may take itself for a member').toBe(0)
  })

  test('blames the relay of an unsigned message', async () => {
    const node = await nodes.start({ member: 0, committee: 2 })
    const liar = await RawPeer.meet(node.port, {}, signerOf(1))
    node.verdict = 'reject'
    liar.send('vote', vote(1))
    expect(await liar.closed()).toBe('banned')
  })

  test('blames who puts another block under a proposal', async () => {
    const node = await nodes.start({ member: 0, committee: 2 })
    const liar = await RawPeer.meet(node.port, {}, signerOf(1))
    const head = { ...vote(1), type: 'proposal', roundChanges: [], prepares: [] } as const
    liar.send('proposal', { head, block: encodeBlock(block(1)) })
    expect(await liar.closed()).toBe('banned')
    expect(node.heard).toEqual([])
  })
})

describe('messages arrive by priority', () => {
  test('a vote overtakes the blocks before it', async () => {
    const node = await nodes.start({ member: 0, committee: 2 })
    const peer = await RawPeer.meet(node.port, {}, signerOf(1))
    node.chain.push(...Array.from({ length: 4 }, () => ({ block: bigBlock(), certificate: CERTIFICATE })))
    // It reads nothing for a while, so that answers wait on the other side.
    peer.socket.pause()
    for (let id = 1; id <= 4; id++) peer.send('getBlocks', { from: 0, count: 4 }, id)
    await until('the answers wait', () => (node.network.peers()[0]?.sentBytes ?? 0) > 500_000)
    await new Promise(resolve => setTimeout(resolve, 50))
    node.network.announceTransactions([transaction(1, 1)])
    await new Promise(resolve => setTimeout(resolve, NETWORK_LIMITS.batchMs * 3))
    node.network.consensus.broadcast(vote(0))
    peer.socket.resume()
    await until('everything', () => peer.said('blocks').length === 4 && peer.said('newTransactions').length === 1)
    const order = peer.heard
      .map(({ name }) => name)
      .filter(name => ['vote', 'blocks', 'newTransactions'].includes(name))
    expect(order.indexOf('vote')).toBeLessThan(order.lastIndexOf('blocks'))
    expect(order.at(-1)).toBe('newTransactions')
  })
})

/** Four of them are more than the sockets of both ends hold, and four answers of four fit into the queue. */
const bigBlock = (): Uint8Array => {
  const bytes = new Uint8Array(4 + 1_500_000)
  new DataView(bytes.buffer).setUint32(0, 0xfa000000 + 1_500_000)
  return bytes.subarray(0)
}

describe('transactions', () => {
  test('reach everybody, by hash or whole, through nodes in between', async () => {
    const first = await nodes.start({ discovers: false })
    let last = first
    for (let count = 0; count < 3; count++) last = await nodes.start({ discovers: false, staticPeers: [last.address] })
    await until('a line', () => nodes.nodes.reduce((sum, { network }) => sum + network.peerCount, 0) === 6)
    const many = Array.from({ length: 300 }, (_, index) => transaction(index % 200, index >> 1, 100 + index))
    first.network.announceTransactions(many)
    await until('everywhere', () => last.pool.held.size === many.length)
    for (const { pool } of nodes.nodes.slice(1)) expect(pool.received.length, 'each once').toBe(many.length)
  })

  test('are asked of another peer when the first does not answer', async () => {
    const node = await nodes.start()
    const [silent, talker] = [await RawPeer.meet(node.port), await RawPeer.meet(node.port)]
    const { hash, raw } = transaction(1, 7)
    silent.send('transactionHashes', [hash])
    await until('asked', () => silent.said('getTransactions').length === 1)
    talker.send('transactionHashes', [hash])
    silent.close()
    await until('asked', () => talker.said('getTransactions').length === 1)
    talker.send('transactions', [raw], talker.said('getTransactions')[0]?.requestId)
    await until('here', () => node.pool.held.has(hash))
  })

  test('that are invalid everywhere are blamed, refused ones are not, and neither is requested again', async () => {
    const node = await nodes.start()
    const peer = await RawPeer.meet(node.port)
    const [refused, invalid] = [transaction(0xfe, 1), transaction(0xff, 1)]
    peer.send('newTransactions', [refused.raw])
    await until('looked at', () => node.pool.received.length === 1)
    expect(node.network.peers()[0]?.score).toBe(0)
    peer.send('newTransactions', [invalid.raw])
    await until('blamed', () => (node.network.peers()[0]?.score ?? 0) < -9)
    peer.send('transactionHashes', [refused.hash, invalid.hash])
    peer.send('newTransactions', [refused.raw, invalid.raw])
    peer.send('ping', { head: { number: 0, hash: HASH }, earliest: 0 }, 9)
    await until('an answer', () => peer.said('pong').length === 1)
    expect(peer.said('getTransactions')).toEqual([])
    expect(node.pool.received).toHaveLength(2)
  })

  test('of a peer that sends mostly refused ones are ignored for a while, and those of others are not', async () => {
    const node = await nodes.start()
    const [tiresome, other] = [await RawPeer.meet(node.port), await RawPeer.meet(node.port)]
    const { burst, perSecond } = NETWORK_LIMITS.refusals
    // Accepted transactions do not count against the sender.
    const welcome = Array.from({ length: 100 }, (_, index) => transaction(1, index).raw)
    tiresome.send('newTransactions', welcome)
    await until('here', () => node.pool.held.size === welcome.length)
    const beganMs = performance.now()
    const refused = Array.from(
      { length: 2 * burst },
      (_, index) => transaction(0xfe, index & 0xff, 100 + index / 16).raw,
    )
    for (let at = 0; at < refused.length; at += 256) {
      tiresome.send('newTransactions', refused.slice(at, at + 256))
      tiresome.send('getTransactions', [HASH], at + 1)
      await until('looked at', () => tiresome.said('transactions').length > at / 256)
    }
    const looked = node.pool.received.length - welcome.length
    expect(looked).toBeGreaterThanOrEqual(burst)
    expect(looked).toBeLessThanOrEqual(burst + 1 + ((performance.now() - beganMs) * perSecond) / 1_000)
    other.send('newTransactions', [transaction(1, 101).raw])
    await until('heard', () => node.pool.held.size === welcome.length + 1)
    expect(node.network.peers().map(({ score }) => score)).toEqual([0, 0])
  })

  test('of a member go whole to members once; those it reaches learn the name from each other', async () => {
    const metrics = new Metrics()
    const members = await committee(4, { metrics })
    const [first, , , witness] = members as [NetNode, NetNode, NetNode, NetNode]
    // It tells nobody that it has them, so both others tell it.
    witness.pool.onAccepted = () => {}
    const many = Array.from({ length: 50 }, (_, index) => transaction(1, index))
    first.network.announceTransactions(many)
    await until('everywhere', () => members.slice(1).every(({ pool }) => pool.held.size === many.length))
    const received = (name: string) =>
      metrics.render().then(text => new RegExp(`event="received",message="${name}"} (\\d+)`).exec(text)?.[1])
    await until('both names', async () => (await received('transactionHashes')) === '2')
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(await received('transactionHashes')).toBe('2')
    expect(await received('newTransactions')).toBe('1')
    expect(witness.pool.received).toHaveLength(many.length)
  })

  test('that come faster than the pool looks are kept, by turns, and none is lost', async () => {
    const node = await nodes.start()
    const [busy, other] = [await RawPeer.meet(node.port), await RawPeer.meet(node.port)]
    const gate = Promise.withResolvers<void>()
    node.pool.gate = gate.promise
    const count = NETWORK_LIMITS.admitting + 1_000
    const many = Array.from({ length: count }, (_, index) => transaction(1, index & 0xff, 100 + (index >> 8)).raw)
    for (let at = 0; at < count; at += 256) busy.send('newTransactions', many.slice(at, at + 256))
    busy.send('getTransactions', [HASH], 1)
    await until('all read', () => busy.said('transactions').length === 1)
    // A message of many takes several turns of the event loop.
    for (let turn = 0; turn < 1_000; turn++) await new Promise(setImmediate)
    other.send('newTransactions', [transaction(2, 1).raw])
    // Known already, though nobody has looked at it.
    busy.send('transactionHashes', [keccak256Hex(many.at(-1) as Uint8Array)])
    busy.send('getTransactions', [HASH], 2)
    await until('read', () => busy.said('transactions').length === 2)
    expect(node.pool.held.size).toBe(0)
    gate.resolve()
    await until('all here', () => node.pool.held.size === count + 1)
    expect(node.pool.received).toHaveLength(count + 1)
    expect(busy.said('getTransactions')).toEqual([])
  })

  test('that are announced and never brought are not read any more, and those of others are asked for', async () => {
    const metrics = new Metrics()
    const node = await nodes.start({ metrics })
    const [liar, other] = [await RawPeer.meet(node.port), await RawPeer.meet(node.port)]
    const { announcedHashes, wantedPerPeer } = NETWORK_LIMITS
    const madeUp = (count: number, from: number) =>
      Array.from({ length: count }, (_, at): Hex => `0xa${(from + at).toString(16).padStart(63, '0')}`)
    for (let at = 0; at < wantedPerPeer; at += announcedHashes)
      liar.send('transactionHashes', madeUp(announcedHashes, at))
    await until('asked', () => liar.said('getTransactions').length === 1)
    const skipped = async () => (await metrics.render()).includes('{event="skipped",message="transactionHashes"} 3')
    for (let count = 0; count < 3; count++) liar.send('transactionHashes', madeUp(1, 1_000_000 + count))
    liar.send('getTransactions', [HASH], 1)
    await until('read', () => liar.said('transactions').length === 1)
    other.send('transactionHashes', madeUp(1, 2_000_000))
    await until('asked', () => other.said('getTransactions').length === 1)
    expect(await skipped()).toBe(true)
    expect(node.network.peers().map(({ score }) => score)).toEqual([0, 0])
  })

  test.each(['transactionHashes', 'newTransactions'] as const)(
    'that are known and sent again and again as %s take little time, and their sender is not blamed',
    async name => {
      let lookups = 0
      class CountingPool extends RawPool {
        override has(hash: Hex): boolean {
          lookups++
          return super.has(hash)
        }
      }
      const node = await nodes.start({ pool: new CountingPool() })
      const { hash, raw } = transaction(1, 1)
      node.pool.held.set(hash, raw)
      const peer = await RawPeer.meet(node.port)
      const [one, count] = [name === 'transactionHashes' ? hash : raw, NETWORK_LIMITS.announcedHashes]
      for (let at = 0; at < 20; at++) peer.send(name, new Array(count).fill(one))
      peer.send('ping', { head: { number: 0, hash: HASH }, earliest: 0 }, 1)
      await until('read', () => peer.said('pong').length === 1)
      await until('looked up', () => lookups >= NETWORK_LIMITS.gossipedTransactions.burst)
      expect(lookups).toBeLessThan(10 * count)
      expect(node.network.peers().map(({ score }) => score)).toEqual([0])
      const other = await RawPeer.meet(node.port)
      other.send('newTransactions', [transaction(2, 3).raw])
      await until('received', () => node.pool.held.has(transaction(2, 3).hash))
    },
  )

  test('announced by a stranger or a member are asked for, however many others announce what nobody has', async () => {
    const node = await nodes.start({ member: 0, committee: 2 })
    const { announcedHashes, inbound } = NETWORK_LIMITS
    const liars = await Promise.all(Array.from({ length: inbound - 1 }, () => RawPeer.meet(node.port)))
    liars.forEach((liar, index) => {
      const name = (at: number): Hex => `0x${(index * announcedHashes + at + 1).toString(16).padStart(64, '0')}`
      liar.send(
        'transactionHashes',
        Array.from({ length: announcedHashes }, (_, at) => name(at)),
      )
      liar.send('ping', { head: { number: 0, hash: HASH }, earliest: 0 }, 1)
    })
    await until('read', () => liars.every(liar => liar.said('pong').length === 1))
    const [stranger, member] = [await RawPeer.meet(node.port), await RawPeer.meet(node.port, {}, signerOf(1))]
    for (const [index, honest] of [stranger, member].entries()) {
      const { hash, raw } = transaction(1, index)
      honest.send('transactionHashes', [hash])
      honest.send('ping', { head: { number: 0, hash: HASH }, earliest: 0 }, 1)
      await until('read', () => honest.said('pong').length === 1)
      expect(honest.said('getTransactions').map(({ value }) => value)).toEqual([[hash]])
      honest.send('transactions', [raw], honest.said('getTransactions')[0]?.requestId)
      await until('here', () => node.pool.held.has(hash))
    }
    // The rest of a long announcement of the member is kept too.
    const name = (at: number): Hex => `0x${(at + 1).toString(16).padStart(64, 'f')}`
    member.send(
      'transactionHashes',
      Array.from({ length: announcedHashes }, (_, at) => name(at)),
    )
    const asked = () => member.said('getTransactions').slice(1)
    for (let count = 1; count <= announcedHashes / NETWORK_LIMITS.requestedHashes; count++) {
      await until('asked', () => asked().length === count)
      member.send('transactions', [], asked().at(-1)?.requestId)
    }
  })

  test('that are many and small are read in turns of the event loop', async () => {
    let [lookups, inTurn, most] = [0, 0, 0]
    class SlowPool extends RawPool {
      override has(hash: Hex): boolean {
        const endMs = performance.now() + 0.05
        while (performance.now() < endMs);
        lookups++
        most = Math.max(most, ++inTurn)
        return super.has(hash)
      }
    }
    const count = NETWORK_LIMITS.announcedHashes
    const node = await nodes.start({ pool: new SlowPool() })
    const peer = await RawPeer.meet(node.port)
    const raw = (index: number) =>
      new Uint8Array(14)
        .fill(0xfe)
        .fill(index >> 8, 1, 2)
        .fill(index & 0xff, 2, 3)
    peer.send(
      'newTransactions',
      Array.from({ length: count }, (_, index) => raw(index)),
    )
    while (lookups < count) {
      inTurn = 0
      await new Promise(resolve => setImmediate(resolve))
    }
    expect(most).toBeLessThan(count / 4)
    expect(node.network.peers().map(({ score }) => score)).toEqual([0])
  })

  test('that are too short to be one are malformed, and the shortest are not', async () => {
    const node = await nodes.start()
    const [peer, other] = [await RawPeer.meet(node.port), await RawPeer.meet(node.port)]
    // [nonce 0, gas price 0, gas limit 0xcf08, no recipient, value 0, no data, v 27, r 1, s 1]
    const shortest = Uint8Array.of(0xcb, 0x80, 0x80, 0x82, 0xcf, 0x08, 0x80, 0x80, 0x80, 0x1b, 0x01, 0x01)
    expect(decodeTransaction(shortest).raw).toEqual(shortest)
    other.send('newTransactions', [shortest])
    await until('received', () => node.pool.received.length === 1)
    peer.send('newTransactions', [shortest.subarray(1)])
    expect(await peer.closed()).toBe('malformed')
    expect(node.peerIds).toEqual([other.key.id])
  })

  test('that are pooled already are announced to a new peer', async () => {
    const first = await nodes.start()
    const { hash, raw } = transaction(1, 1)
    first.pool.held.set(hash, raw)
    const second = await nodes.start({ staticPeers: [first.address] })
    await until('here', () => second.pool.held.has(hash))
  })

  test('are answered as far as they are here and fit', async () => {
    const node = await nodes.start()
    const peer = await RawPeer.meet(node.port)
    const large = Array.from({ length: 12 }, (_, index) => transaction(1, index, 120_000))
    for (const { hash, raw } of large) node.pool.held.set(hash, raw)
    peer.send('getTransactions', [HASH, ...large.map(({ hash }) => hash)], 5)
    await until('an answer', () => peer.said('transactions').length === 1)
    const answer = peer.said('transactions')[0]
    expect(answer?.requestId).toBe(5)
    expect(answer?.value).toEqual(large.slice(0, 8).map(({ raw }) => raw))
  })
})

describe('blocks', () => {
  test('are announced to all, whole to some, and not back to whom they came from', async () => {
    const node = await nodes.start()
    const peers = await Promise.all(Array.from({ length: 5 }, () => RawPeer.meet(node.port)))
    const { hash } = block(1)
    peers[0]?.send('newBlockHash', { number: 1, hash, certificate: CERTIFICATE })
    await until('heard', () => node.blocks.length === 1)
    node.network.announceBlock({ number: 1, hash, certificate: CERTIFICATE, encode: () => encodeBlock(block(1)) })
    const heard = () => peers.filter(peer => peer.said('newBlock').length + peer.said('newBlockHash').length > 0)
    await until('announced', () => heard().length === 4)
    expect(heard()).not.toContain(peers[0])
    expect(peers.flatMap(peer => peer.said('newBlock'))).toHaveLength(2)
    expect(node.network.peers().find(({ id }) => id === peers[0]?.key.id)?.head).toEqual({ number: 1, hash })
  })

  test('pushed whole come with number and hash', async () => {
    const node = await nodes.start()
    const peer = await RawPeer.meet(node.port)
    peer.send('newBlock', sealed(7))
    await until('heard', () => node.blocks.length === 1)
    expect(node.blocks[0]).toEqual({ number: 7, hash: block(7).hash, ...sealed(7), from: peer.key.id })
  })

  test('without a header end the connection', async () => {
    const node = await nodes.start()
    const peer = await RawPeer.meet(node.port)
    peer.send('newBlock', { block: Uint8Array.of(0xc1, 0x01), certificate: CERTIFICATE })
    expect(await peer.closed()).toBe('malformed')
  })

  test('are asked of one peer after the other until one has them', async () => {
    const asker = await nodes.start()
    const [empty, full] = [
      await nodes.start({ staticPeers: [asker.address] }),
      await nodes.start({ staticPeers: [asker.address] }),
    ]
    full.chain.push(sealed(0), sealed(1), sealed(2))
    await until('connected', () => asker.network.peerCount >= 2)
    const tried = new Set<string>()
    const ask = () =>
      asker.network.request(
        'getBlocks',
        { from: 1, count: 9 },
        { watch: peer => void tried.add(peer), validate: answer => (answer.length > 0 ? 'good' : 'empty') },
      )
    for (let i = 0; i < 100 && !tried.has(empty.id); i++)
      expect(await ask()).toEqual({ answer: [sealed(1), sealed(2)], from: full.id })
    expect(tried).toEqual(new Set([empty.id, full.id]))
    expect(await asker.network.request('getManifest', null)).toMatchObject({ answer: null })
    full.chain.length = 0
    await expect(ask()).rejects.toMatchObject({ code: 'NO_PEER' })
  })

  test('asked for too fast are answered with nothing, not queued without end', async () => {
    const node = await nodes.start()
    node.chain.push(sealed(0))
    let release = () => {}
    node.delay = new Promise(resolve => {
      release = resolve
    })
    const peer = await RawPeer.meet(node.port)
    for (let id = 1; id <= 10; id++) peer.send('getBlocks', { from: 0, count: 1 }, id)
    await until('refused', () => peer.said('blocks').length === 10 - NETWORK_LIMITS.serving)
    expect(peer.said('blocks').every(({ value }) => (value as unknown[]).length === 0)).toBe(true)
    release()
    await until('answered', () => peer.said('blocks').length === 10)
  })

  test('a request of a peer that leaves fails at once', async () => {
    const node = await nodes.start()
    const peer = await RawPeer.meet(node.port)
    const asked = node.network.request('getBlocks', { from: 0, count: 1 })
    await until('asked', () => peer.said('getBlocks').length === 1)
    peer.close()
    await expect(asked).rejects.toMatchObject({ code: 'PEER_GONE' })
  })
})

describe('evidence', () => {
  test('is passed on by who finds it true, once', async () => {
    const first = await nodes.start({ discovers: false })
    const middle = await nodes.start({ discovers: false, staticPeers: [first.address] })
    const last = await nodes.start({ discovers: false, staticPeers: [middle.address] })
    await until('a line', () => nodes.nodes.reduce((sum, { network }) => sum + network.peerCount, 0) === 4)
    const proof = Uint8Array.of(1, 2, 3)
    first.network.evidence.broadcast(proof)
    first.network.evidence.broadcast(proof)
    await until('there', () => last.evidence.length === 1)
    expect(last.evidence[0]?.from).toBe(middle.id)
    expect(first.evidence, 'not back to where it came from').toEqual([])
    middle.verdict = 'ignore'
    first.network.evidence.broadcast(Uint8Array.of(4))
    await until('heard', () => middle.evidence.length === 2)
    await new Promise(resolve => setTimeout(resolve, 30))
    expect(last.evidence).toHaveLength(1)
    expect(MESSAGES.evidence.from).toBe('anyone')
  })
})
