import { mkdirSync, mkdtempSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { assert } from '@tandem/base/assert.ts'
import { ZERO_HASH } from '@tandem/base/bytes.ts'
import { systemClock } from '@tandem/base/clock.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readRecordRows } from '../../../../src/chain/council/council-rows.ts'
import { chunkPlaceOf } from '../../../../src/chain/snapshot/sync/chunk-places.ts'
import { verifyChain } from '../../../../src/chain/verify-chain.ts'
import { COUNCIL_ADDRESS } from '../../../../src/config/networks.ts'
import { keccak256Hex } from '../../../../src/crypto/hash.ts'
import type { ServePort } from '../../../../src/network/messages/ports.ts'
import type { SnapshotManifest } from '../../../../src/network/wire/snapshot.ts'
import { servePort } from '../../../../src/node/network/serve-port.ts'
import { blockVoteDigest } from '../../../../src/primitives/consensus/vote.ts'
import { decodeHeader, encodeHeader, headerHash } from '../../../../src/primitives/header.ts'
import { decodeRlpList, encodeRlp, encodeRlpList, uintItem } from '../../../../src/primitives/rlp/rlp.ts'
import { decodeProofState, encodeProofState } from '../../../../src/rules/proof/proof-state.ts'
import { hashedKey } from '../../../../src/state/flat-tables.ts'
import { openTestChain } from '../../../support/chain.ts'
import { signerOf } from '../../../support/consensus/member.ts'
import { councilTransaction, STAKE } from '../../../support/council-contract.ts'
import { rewardOf, validatorKey, validatorOf } from '../../../support/council-genesis.ts'
import type { NetNode } from '../../../support/network/net-node.ts'
import { MINER } from '../../../support/powchain/headers.ts'
import { solved } from '../../../support/powchain/proof-chain.ts'
import { CYCLE, type Offer, SnapshotNet } from './snapshot-net.ts'

const NUMBER = 10 * CYCLE
/** Proof headers in the blocks before the snapshot's: `paidHeaders` of them are not needed for a long state. */
const PROVEN = 12

let net: SnapshotNet
beforeAll(async () => {
  net = await SnapshotNet.open(NUMBER, async council => {
    // A member joins, one falls silent, and one is jailed: all of it stands in records.
    const { first } = council
    // Proof headers, all below the snapshot's history but one that waits for the block after it.
    await council.mineTo(1)
    const prove = async () => {
      const header = await solved(first, {})
      for (const { proofPool, clock } of council.chains) expect(await proofPool.admit(header, clock.ms)).toBe('added')
    }
    // Their state with a coinbase of each is longer than that of a few.
    for (let number = 2; number <= PROVEN + 1; number++) {
      await prove()
      await council.mineTo(number)
    }
    const registration = ['Validator 5', validatorOf(5), rewardOf(5)]
    await council.submit(await councilTransaction(first, validatorKey(5), 'register', registration, STAKE))
    await council.mineTo(4 * CYCLE + 2)
    const number = council.number - 1
    const [accused] = council.committee(number).members.filter(member => member === validatorOf(1))
    first.evidence.report(council.doublePrepare(number, validatorKey(1), accused!))
    await council.mineTo(NUMBER, { silent: [validatorOf(2)] })
    await prove()
  })
}, 60_000)
afterAll(() => net?.close())

describe.concurrent('a joiner that gets no snapshot says why', () => {
  test.each([
    [
      'no peer has one',
      {},
      /^no peer offers a snapshot that can be used: nodes make one each --snapshot-interval, rounded up to cycles of \d+ blocks$/,
    ],
    ['its own chain is past the block', { head: () => NUMBER }, /^no peer offers a snapshot/],
    ['no peer is ahead', { head: () => 1_000_000 }, /^no connected peer is ahead of this node$/],
  ])('%s', async (_, options, reason) => {
    const peer = await net.peer(net.honest, 'head' in options ? {} : { manifest: async () => null })
    const followed = await net.follow([peer], options)
    for (const { network } of [peer, followed.node]) await network.stop()
    expect(followed.outcome).toBe('none')
    expect(followed.reason).toMatch(reason)
    expect(net.banned(followed.node)).toEqual([])
  })
})

/** A peer's lie beside two honest peers: what becomes of the follower, and who was banned. */
const follow = async (lie: Offer | undefined, options: Parameters<SnapshotNet['follow']>[1] = {}) => {
  const honest = [await net.peer(net.honest), await net.peer(net.honest)]
  const liar = lie && (await net.peer(lie))
  const { outcome, node, storePath } = await net.follow([...honest, ...(liar ? [liar] : [])], options)
  const banned = net.banned(node)
  for (const { network } of [...honest, node, ...(liar ? [liar] : [])]) await network.stop()
  expect(honest.map(({ id }) => banned.includes(id))).toEqual([false, false])
  return { outcome, storePath, isLiarBanned: liar !== undefined && banned.includes(liar.id), node }
}

/** The staged chain is the network's: same state, same records, and it executes what comes next. */
const expectTrue = async (storePath: string): Promise<void> => {
  const { first } = net.net
  const dir = mkdtempSync(join(net.dir, 'opened-'))
  mkdirSync(dir, { recursive: true })
  renameSync(join(storePath, 'db'), join(dir, 'db'))
  const opened = await openTestChain(dir, { genesis: net.net.genesis, mode: 'wasm' })
  try {
    expect(opened.chain.head().hash).toBe((await first.blocks.block(NUMBER))?.hash)
    for (let number = 0; number <= NUMBER; number += CYCLE)
      expect(readRecordRows(opened.store, number)).toEqual(readRecordRows(first.store, number))
    expect((await verifyChain(opened.store, { from: 0 })).problems).toEqual([])
    expect(opened.proofPool.head.proofState).toMatchObject({ tipHeight: PROVEN, coinbase: MINER })
    for (let number = NUMBER + 1; number <= NUMBER + 2 * CYCLE; number++) {
      const [block, certificate] = [await first.blocks.block(number), await first.blocks.certificate(number)]
      assert(block && certificate, 'the chain goes on')
      await opened.chain.commit(block, certificate)
    }
    expect(opened.proofPool.head.proofState.tipHeight).toBe(PROVEN + 1)
    expect(opened.sources.council.committee(NUMBER + 3 * CYCLE)).toEqual(
      first.sources.council.committee(NUMBER + 3 * CYCLE),
    )
  } finally {
    await opened.close()
  }
}

const proofState = () => decodeProofState(manifest().proofState)
const honestChunk = (index: number) => net.folder.chunk(index)
const manifest = (): SnapshotManifest => net.folder.manifest
const records = async (): Promise<readonly Uint8Array[]> =>
  decodeRlpList((await honestChunk(0))!).map(item => encodeRlp(item))

/** The same snapshot with other chunks of records, served by its sender. */
const withRecords = (chunks: readonly Uint8Array[]): Offer => ({
  manifest: { ...manifest(), records: chunks.map(chunk => keccak256Hex(chunk)) },
  chunk: async index =>
    index < chunks.length ? chunks[index] : honestChunk(index - chunks.length + manifest().records.length),
})

const recordOf = (number: number, cycle: Uint8Array, council: Uint8Array): Uint8Array =>
  encodeRlp([uintItem(number), cycle, council])

test('honest peers alone bring all of it, records among them', async () => {
  const { outcome, storePath } = await follow(undefined)
  expect(outcome).toBe('ready')
  const silent = readRecordRows(net.net.first.store, NUMBER)
  expect(decodeRlpList(silent!.cycle)[1]).not.toEqual([])
  await expectTrue(storePath)
}, 60_000)

test('stopped while ancestors are fetched, it is not a chain yet; the next start has all of them', async () => {
  const { blocks } = net.net.first
  let stop = () => {}
  let state: 'whole' | 'stopping' | 'resumed' = 'whole'
  // Short answers, so that there are several; the node stops at the second one, and its peer answers nothing more.
  const serve: Pick<ServePort, 'blocks'> = {
    blocks: async ({ from, count }, maxBytes) => {
      if (state === 'whole' && count > 1 && count <= NUMBER - 8) {
        state = 'stopping'
        stop()
      }
      return state === 'stopping' ? [] : servePort(blocks).blocks({ from, count: Math.min(count, 8) }, maxBytes)
    },
  }
  const peer = await net.peer(net.honest, serve)
  const stopped = await net.follow([peer], { onSync: sync => (stop = () => sync.stop()) })
  expect(stopped.outcome).toBe('stopped')
  state = 'resumed'
  const resumed = await net.follow([peer], { storePath: stopped.storePath })
  expect(resumed.outcome).toBe('ready')
  for (const { network } of [peer, stopped.node, resumed.node]) await network.stop()
  await expectTrue(stopped.storePath)
}, 60_000)

describe.concurrent('beside honest peers', () => {
  test.each<[string, () => Offer | Promise<Offer>]>([
    [
      'records cut into one more chunk: honest peers have no such snapshot',
      async () => {
        const rows = await records()
        return withRecords([encodeRlpList(rows.slice(0, 2)), encodeRlpList(rows.slice(2))])
      },
    ],
    [
      'the same, and never delivered',
      async () => {
        const rows = await records()
        const offer = withRecords([encodeRlpList(rows.slice(0, 2)), encodeRlpList(rows.slice(2))])
        return { ...offer, chunk: async () => undefined }
      },
    ],
    [
      'a certificate of nobody',
      () => ({ ...net.honest, manifest: { ...manifest(), certificate: { ...manifest().certificate, round: 9 } } }),
    ],
  ])(
    '%s',
    async (_, lie) => {
      const { outcome, storePath } = await follow(await lie())
      expect(outcome).toBe('ready')
      await expectTrue(storePath)
    },
    60_000,
  )
})

/** Only the liar has a snapshot at first; honest peers have one afterwards. */
const alone = async (lie: Offer) => {
  let isLate = false
  const { honest } = net
  const honestPeers: NetNode[] = []
  for (let count = 0; count < 2; count++)
    honestPeers.push(await net.peer(honest, { manifest: async () => (isLate ? honest.manifest : null) }))
  const liar = await net.peer(lie)
  let paused = 0
  const first = net.net.first
  const clock = {
    ...systemClock,
    nowMs: () => first.clock.ms + performance.now(),
    schedule: (_: number, action: () => void) => {
      isLate ||= ++paused > 2
      const timer = setTimeout(action, 5)
      return () => clearTimeout(timer)
    },
  }
  const { outcome, node, storePath } = await net.follow([...honestPeers, liar], { clock })
  const banned = net.banned(node)
  for (const { network } of [...honestPeers, liar, node]) await network.stop()
  expect(honestPeers.map(({ id }) => banned.includes(id))).toEqual([false, false])
  return { outcome, storePath, isLiarBanned: banned.includes(liar.id), log: node.log }
}

describe.concurrent('from the only peer that offers one', () => {
  const garbage = Uint8Array.of(0xc1, 0x80)
  test.each<[string, () => Promise<readonly Uint8Array[]>]>([
    [
      'a row that is garbage',
      async () => [encodeRlpList([...(await records()).slice(0, -1), recordOf(NUMBER - CYCLE, garbage, garbage)])],
    ],
    ['a record that is no list', async () => [encodeRlpList([...(await records()), Uint8Array.of(7)])]],
    [
      'a member paid elsewhere',
      async () => {
        const rows = await records()
        const at = rows.findIndex(row => (decodeRlpList(row)[2] as Uint8Array).byteLength > 0)
        const [number, cycle, council] = decodeRlpList(rows[at]!) as [Uint8Array, Uint8Array, Uint8Array]
        const changed = Uint8Array.from(council)
        // The reward address of some member.
        const address = Buffer.from(rewardOf(3).slice(2), 'hex')
        changed[Buffer.from(council).indexOf(address) + 3]! ^= 1
        const lie = rows.map((row, index) => (index === at ? encodeRlp([number, cycle, changed]) : row))
        return [encodeRlpList(lie)]
      },
    ],
    [
      'a member that was never silent',
      async () => {
        const rows = await records()
        const [number, cycle, council] = decodeRlpList(rows.at(-1)!) as [Uint8Array, Uint8Array, Uint8Array]
        const [at, , jailed] = decodeRlpList(cycle) as [Uint8Array, Uint8Array[], Uint8Array[]]
        return [encodeRlpList([...rows.slice(0, -1), encodeRlp([number, encodeRlp([at, [], jailed]), council])])]
      },
    ],
    ['a record left out', async () => [encodeRlpList((await records()).slice(0, -1))]],
    [
      'a record too many',
      async () => [
        encodeRlpList([...(await records()), recordOf(NUMBER, encodeRlp([uintItem(0), [], []]), new Uint8Array(0))]),
      ],
    ],
    [
      'an old council that never was',
      async () => {
        const rows = await records()
        const [number, cycle] = decodeRlpList(rows[1]!) as [Uint8Array, Uint8Array]
        return [encodeRlpList(rows.map((row, at) => (at === 1 ? encodeRlp([number, cycle, encodeRlp([])]) : row)))]
      },
    ],
    ['no records', async () => []],
  ])(
    '%s: it is banned before the state is fetched, and another one serves',
    async (_, chunks) => {
      const { outcome, storePath, isLiarBanned } = await alone(withRecords(await chunks()))
      expect({ outcome, isLiarBanned }).toEqual({ outcome: 'ready', isLiarBanned: true })
      await expectTrue(storePath)
    },
    60_000,
  )

  test.each<[string, () => Offer]>([
    [
      'a made-up header',
      () => {
        const header = decodeHeader(manifest().header)
        return {
          ...net.honest,
          manifest: { ...manifest(), header: encodeHeader({ ...header, timestamp: header.timestamp + 1 }) },
        }
      },
    ],
    [
      'a header that strangers sealed',
      () => {
        const header = { ...decodeHeader(manifest().header), timestamp: 7 }
        const domain = { chainId: net.net.genesis.params.chainId, genesisHash: net.net.first.genesisHash }
        const commit = { type: 'commit', number: header.number, round: 0, blockHash: headerHash(header) } as const
        const seals = [0, 1, 2, 3].map(index => signerOf(index).sign(blockVoteDigest(domain, commit)))
        const certificate = { round: 0, bitmap: Uint8Array.of(0b1111), seals }
        return { ...net.honest, manifest: { ...manifest(), header: encodeHeader(header), certificate } }
      },
    ],
    [
      'a certificate of nobody',
      () => ({ ...net.honest, manifest: { ...manifest(), certificate: { ...manifest().certificate, round: 9 } } }),
    ],
  ])(
    '%s: only this peer is banned',
    async (_, lie) => {
      const { outcome, storePath, isLiarBanned } = await alone(lie())
      expect({ outcome, isLiarBanned }).toEqual({ outcome: 'ready', isLiarBanned: true })
      await expectTrue(storePath)
    },
    60_000,
  )

  test("a storage of the council's own making does not vouch for its records", async () => {
    const owner = hashedKey(COUNCIL_ADDRESS)
    const part = chunkPlaceOf(manifest(), manifest().records.length)
    assert(part.kind === 'accounts', 'accounts follow the records')
    const storages = [
      { owner, parts: [{ prefix: new Uint8Array(0), reference: encodeRlp(Buffer.from(ZERO_HASH.slice(2), 'hex')) }] },
    ]
    const offer = { ...net.honest, manifest: { ...manifest(), storages } }
    const { outcome, storePath } = await alone(offer)
    expect(outcome).toBe('ready')
    await expectTrue(storePath)
  }, 60_000)

  test('nothing at all of what it offers: another one is taken', async () => {
    const rows = await records()
    const offer = withRecords([encodeRlpList(rows.slice(0, 2)), encodeRlpList(rows.slice(2))])
    const { outcome, storePath } = await alone({ ...offer, chunk: async () => undefined })
    expect(outcome).toBe('ready')
    await expectTrue(storePath)
  }, 60_000)

  test.each([
    ['another state of the proof chain', () => encodeProofState({ ...proofState(), totalWork: 1n })],
    ['none', () => new Uint8Array(0)],
    ['bytes that are no state', () => Uint8Array.of(1)],
  ])(
    'a snapshot with %s costs it its place',
    async (_, lie) => {
      const { outcome, storePath, isLiarBanned } = await alone({
        ...net.honest,
        manifest: { ...manifest(), proofState: lie() },
      })
      expect({ outcome, isLiarBanned }).toEqual({ outcome: 'ready', isLiarBanned: true })
      await expectTrue(storePath)
    },
    60_000,
  )

  test('chunks that are not those of its own manifest cost it its place', async () => {
    const offer: Offer = {
      ...net.honest,
      manifest: { ...manifest(), records: [...manifest().records, keccak256Hex(Uint8Array.of(1))] },
      chunk: async () => Uint8Array.of(1, 2, 3),
    }
    const { outcome, isLiarBanned } = await alone(offer)
    expect({ outcome, isLiarBanned }).toEqual({ outcome: 'ready', isLiarBanned: true })
  }, 60_000)
})
