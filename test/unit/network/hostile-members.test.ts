import { systemClock } from '@tandem/base/clock.ts'
import { afterEach, describe, expect, test } from 'vitest'
import { NETWORK_LIMITS } from '../../../src/config/limits/network.ts'
import { BLOCK_BOUNDS } from '../../../src/config/protocol-bounds.ts'
import { commitsFromCertificate } from '../../../src/consensus/certificate.ts'
import { cachingBlockCodec, networkCodec } from '../../../src/node/parts/consensus/block-codec.ts'
import { encodeBlock } from '../../../src/primitives/block.ts'
import { blockVoteDigest } from '../../../src/primitives/consensus/vote.ts'
import { GENESIS_HASH, Ledger } from '../../support/consensus/ledger.ts'
import { createMember, DOMAIN, type Member, signerOf } from '../../support/consensus/member.ts'
import { MemoryFiles } from '../../support/consensus/memory-files.ts'
import { ByzantineMember, MANY, manyTransactions } from '../../support/hostile/byzantine-member.ts'
import { type NetNode, NetNodes, until } from '../../support/network/net-node.ts'
import { RawPeer } from '../../support/network/raw-peer.ts'

const SIZE = 4
const nodes = new NetNodes()
const members: Member[] = []
afterEach(async () => {
  await Promise.all(members.splice(0).map(({ engine }) => engine.stop()))
  await nodes.stop()
})

/** Transactions whose senders were asked for, and bodies that were read. */
class Costs {
  senders = 0
  bodies = 0
  readonly codec = (() => {
    const codec = networkCodec({
      recoverMany: async raws => {
        this.senders += raws.length
        return raws.map(() => ({ hash: GENESIS_HASH, from: GENESIS_HASH.slice(0, 42) }) as never)
      },
    })
    return cachingBlockCodec({
      encode: codec.encode,
      decode: bytes => {
        this.bodies++
        return codec.decode(bytes)
      },
    })
  })()
}

interface Scene {
  readonly node: NetNode
  readonly costs: Costs
  readonly engine: Member
  readonly byzantine: ByzantineMember
  /** A connection that proves the member's key. */
  meet(): Promise<RawPeer>
}

/** A validator of four with a real engine at height 1, whose second member is Byzantine. It is member 3's turn only after that of 1 and 2. */
const open = async (): Promise<Scene> => {
  const costs = new Costs()
  const node = await nodes.start({ member: 0, committee: SIZE, hears: false, blocks: costs.codec })
  const parts = { index: 0, size: SIZE, clock: systemClock, files: new MemoryFiles(), ledger: new Ledger() }
  const engine = await createMember({ ...parts, network: node.network.consensus, blockTimeMs: 3_600_000 })
  members.push(engine)
  await engine.engine.start()
  const signer = signerOf(1)
  const byzantine = new ByzantineMember(signer, { index: 1, size: SIZE, domain: DOMAIN })
  return { node, costs, engine, byzantine, meet: () => RawPeer.meet(node.port, {}, signer) }
}

/** The node has read all that the peer said. */
const read = async (peer: RawPeer): Promise<void> => {
  peer.send('ping', { head: { number: 0, hash: GENESIS_HASH }, earliest: 0 }, 1)
  await until('read', () => peer.take('pong').length === 1 || peer.isClosed)
}
const scoreOf = ({ node }: Scene, peer: RawPeer) => node.network.peers().find(({ id }) => id === peer.key.id)?.score

describe('a proposal of a council key', () => {
  const transactions = manyTransactions(MANY)

  test('without a signature is not decoded, and its sender loses its slot, under any node id', async () => {
    const scene = await open()
    const peer = await scene.meet()
    const bytes = scene.byzantine.proposal({ number: 1, transactions, isSigned: false })
    expect(bytes.byteLength).toBeGreaterThan(3_200_000)
    peer.write(bytes)
    expect(await peer.closed()).toBe('banned')
    expect(scene.costs).toMatchObject({ bodies: 0, senders: 0 })
    await expect(scene.meet()).rejects.toThrow('banned')
    expect(scene.engine.engine.status().rejectedMessages).toBe(1)
    // Another member is not hurt by it.
    const honest = await RawPeer.meet(scene.node.port, {}, signerOf(2))
    await read(honest)
    expect(scoreOf(scene, honest)).toBe(0)
  })

  test('with another block than the one that was signed costs the same', async () => {
    const scene = await open()
    const peer = await scene.meet()
    const [signed, other] = [scene.byzantine.block({ number: 1 }), scene.byzantine.block({ number: 1, transactions })]
    peer.send('proposal', { head: scene.byzantine.head(signed, { number: 1 }), block: encodeBlock(other) })
    expect(await peer.closed()).toBe('banned')
    expect(scene.costs).toMatchObject({ bodies: 0, senders: 0 })
  })

  test('with another body under its header is read, and no sender is recovered', async () => {
    const scene = await open()
    const peer = await scene.meet()
    const signed = scene.byzantine.block({ number: 1 })
    const block = encodeBlock({ ...signed, transactions })
    peer.send('proposal', { head: scene.byzantine.head(signed, { number: 1 }), block })
    expect(await peer.closed()).toBe('banned')
    expect(scene.costs).toMatchObject({ bodies: 1, senders: 0 })
  })

  test('by a wrong proposer is evidence and its body is not decoded; nor is one of a far height or round', async () => {
    const scene = await open()
    const peer = await scene.meet()
    const round = scene.byzantine.roundOf(1)
    for (const hostile of [
      { number: 1, round: round + 1 },
      { number: 1, round: round + 100 * SIZE },
      { number: 3 },
      { number: 1_000 },
    ])
      peer.write(scene.byzantine.proposal({ ...hostile, transactions }))
    await read(peer)
    expect(scene.costs).toMatchObject({ bodies: 0, senders: 0 })
    // Height 3 has one of its own: above round 0 nothing is justified.
    expect(scene.engine.engine.status().evidence).toBe(2)
    expect(scoreOf(scene, peer)).toBe(0)
  })

  test('is read once, however often it comes', async () => {
    const scene = await open()
    const peer = await scene.meet()
    const proposal = scene.byzantine.proposal({
      number: 1,
      parentHash: GENESIS_HASH,
      transactions: transactions.slice(0, 3),
    })
    peer.write(proposal)
    await until('read', () => scene.costs.senders === 3)
    await read(peer)
    for (let count = 0; count < 3; count++) peer.write(proposal)
    // Another one of the same round is evidence, and the first counts.
    peer.write(scene.byzantine.proposal({ number: 1, parentHash: GENESIS_HASH, transactions }))
    await read(peer)
    expect(scene.costs).toMatchObject({ bodies: 1, senders: 3 })
    expect(scene.engine.engine.status().evidence).toBe(1)
  })
})

describe('a block of a council key', () => {
  const transactions = manyTransactions(1_000)

  test('that was not requested is not read, and costs nothing', async () => {
    const scene = await open()
    const peer = await scene.meet()
    peer.send('body', encodeBlock(scene.byzantine.block({ number: 1, transactions })))
    await read(peer)
    expect(scene.costs.bodies).toBe(0)
    expect(scoreOf(scene, peer)).toBe(0)
  })

  test('that no quorum decided is not read, and costs its sender its place', async () => {
    const scene = await open()
    const peer = await scene.meet()
    const block = scene.byzantine.block({ number: 1, transactions })
    const certificate = {
      round: 0,
      bitmap: Uint8Array.of(0b111),
      seals: [1, 2, 3].map(fill => new Uint8Array(65).fill(fill)),
    }
    expect(commitsFromCertificate(certificate, { number: 1, blockHash: block.hash })).toHaveLength(3)
    peer.send('decided', { block: encodeBlock(block), certificate })
    expect(await peer.closed()).toBe('banned')
    expect(scene.costs.bodies).toBe(0)
  })

  test('that a quorum decided, with another body, is read and no sender is recovered', async () => {
    const scene = await open()
    const peer = await scene.meet()
    const block = scene.byzantine.block({ number: 1, parentHash: GENESIS_HASH })
    const digest = blockVoteDigest(DOMAIN, { type: 'commit', number: 1, round: 0, blockHash: block.hash })
    const seals = [1, 2, 3].map(index => signerOf(index).sign(digest))
    const certificate = { round: 0, bitmap: Uint8Array.of(0b1110), seals }
    peer.send('decided', { block: encodeBlock({ ...block, transactions }), certificate })
    expect(await peer.closed()).toBe('banned')
    expect(scene.costs).toMatchObject({ bodies: 1, senders: 0 })
    const honest = await RawPeer.meet(scene.node.port, {}, signerOf(2))
    honest.send('decided', { block: encodeBlock(block), certificate })
    await until('decided', () => scene.engine.engine.status().decided === 1)
    // The body of a height that is decided is not decoded again.
    honest.send('decided', { block: encodeBlock({ ...block, transactions }), certificate })
    await read(honest)
    expect(scene.costs.bodies).toBe(2)
    expect(scoreOf(scene, honest)).toBe(0)
  })

  test('has a header of bounded length', async () => {
    const scene = await open()
    const peer = await scene.meet()
    const { header, ...body } = scene.byzantine.block({ number: 1 })
    const long = { ...header, extraData: new Uint8Array(BLOCK_BOUNDS.headerBytes) }
    peer.send('body', encodeBlock({ ...body, header: long }))
    expect(await peer.closed()).toBe('malformed')
  })
})

describe('a council key', () => {
  test('takes two places, whatever number of nodes speak for it', async () => {
    const scene = await open()
    const peers = [await scene.meet(), await scene.meet()]
    await expect(scene.meet()).rejects.toThrow('tooManyPeers')
    expect(scene.node.network.peerCount).toBe(2)
    peers[0]?.close()
    await until('room', () => scene.node.network.peerCount === 1)
    await scene.meet()
  })

  test('is sent a bounded number of bytes of blocks for its statuses', async () => {
    const scene = await open()
    const peer = await scene.meet()
    const block = scene.byzantine.block({ number: 1, transactions: manyTransactions(MANY) })
    const { burst } = NETWORK_LIMITS.blockAnswers
    for (let sent = 0; sent < 3 * burst; sent += block.size)
      scene.node.network.consensus.send(peer.key.id, { type: 'body', block })
    await read(peer)
    // The queue drops what the line does not take; the budget is what counts here.
    expect(peer.said('body').length * block.size).toBeLessThanOrEqual(burst)
  })
})
