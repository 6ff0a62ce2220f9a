import { copyFileSync, readFileSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { runLogJob, verifyLogIndex } from '../../../../src/chain/logs/log-jobs.ts'
import { BlockStore } from '../../../../src/chain/store/block-store.ts'
import { putLogIndex } from '../../../../src/chain/store/log-index.ts'
import { receiptRows } from '../../../../src/chain/store/receipt-parts.ts'
import { SegmentMover } from '../../../../src/chain/store/segment-mover.ts'
import { verifyChain } from '../../../../src/chain/verify-chain.ts'
import type { Genesis } from '../../../../src/config/genesis/types.ts'
import { STORAGE_LIMITS } from '../../../../src/config/limits/storage.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import { numberKey } from '../../../../src/storage/keys.ts'
import { moveSegment, readMoved } from '../../../../src/storage/move-segment.ts'
import { segmentPath } from '../../../../src/storage/segments.ts'
import type { Store } from '../../../../src/storage/store.ts'
import {
  ACCOUNT_KEYS,
  ACCOUNTS,
  openTestChain,
  signedRaw,
  type TestChain,
  testGenesis,
  withChain,
} from '../../../support/chain.ts'
import { putLoggedBlock } from '../../../support/logged-chain.ts'
import { temporaryDirectory, temporaryStore } from '../../storage/temp-store.ts'

const { segmentBlocks, recentBlocks } = STORAGE_LIMITS

const mineSome = async (chain: TestChain): Promise<readonly Hex[]> => {
  const hashes: Hex[] = []
  for (let nonce = 0; nonce < 5; nonce++) {
    if (nonce !== 2) {
      const raw = signedRaw(ACCOUNT_KEYS[0] as Uint8Array, { nonce: hashes.length, to: ACCOUNTS[1] as Hex, value: 5n })
      hashes.push(await chain.pool.service.submit(raw))
    }
    await chain.mine()
  }
  return hashes
}

/** All that a block store tells of the blocks, without what it keeps in memory. */
const told = async (store: Store, hashes: readonly Hex[]) => {
  const blocks = new BlockStore(store)
  const numbers = [0, 1, 2, 3, 4, 5, 6]
  const all = numbers.map(async number => [
    await blocks.block(number),
    await blocks.receipts(number),
    await blocks.receiptsWithoutBlooms(number),
    await blocks.certificate(number),
    await blocks.encoded(number),
    await blocks.tips(number),
    [...(await blocks.internalTransfers(number))],
    [...(await blocks.failedExecutions(number))],
  ])
  const located = hashes.map(async hash => (await blocks.stored((await blocks.locate(hash))?.number ?? 0))?.receipt(0))
  return structuredClone(await Promise.all([...all, ...located]))
}

test('a chain whose blocks are in a segment tells of them as before, and verification reads every byte', () =>
  withChain(
    async ({ store, ...chain }) => {
      const hashes = await mineSome({ store, ...chain })
      const before = await told(store, hashes)
      await moveSegment(store)
      expect(await store.keys(BUCKETS.body).next()).toMatchObject({ done: true })
      expect(await told(store, hashes)).toEqual(before)
      expect((await verifyChain(store, { from: 0 })).problems).toEqual([])
      await chain.mine()
      expect((await verifyChain(store, { from: 0 })).problems).toEqual([])
      const path = segmentPath(store.segmentFolder, 0)
      const bytes = readFileSync(path)
      bytes[50] = (bytes[50] as number) ^ 4
      writeFileSync(path, bytes)
      await expect(verifyChain(store, { from: 6 })).rejects.toMatchObject({ code: 'STORE_CORRUPT', detail: { path } })
    },
    { segmentBlocks: 6 },
  ))

test('a chain with a segment cut short, or of another chain, is not opened', async () => {
  const made = async (genesis: Genesis) => {
    const dir = await temporaryDirectory()
    const chain = await openTestChain(dir, { genesis })
    await chain.mine()
    await moveSegment(chain.store)
    await moveSegment(chain.store)
    await chain.close()
    return { dir, path: segmentPath(chain.store.segmentFolder, segmentBlocks), hash: chain.genesisHash }
  }
  const genesis = testGenesis()
  const { dir, path } = await made(genesis)
  const other = await made({ ...genesis, timestamp: genesis.timestamp + 1 })
  copyFileSync(other.path, path)
  await expect(openTestChain(dir)).rejects.toMatchObject({
    code: 'STORE_CORRUPT',
    detail: { path, reason: `it is the segment of block ${segmentBlocks} of the chain with genesis ${other.hash}` },
  })
  truncateSync(path, 20)
  await expect(openTestChain(dir)).rejects.toMatchObject({ code: 'STORE_CORRUPT', detail: { path } })
})

test('logs are indexed and verified whether the blocks are in tables, in a segment, or on their way', async () => {
  const store = await temporaryStore()
  const batch = store.batch()
  const logs = (number: number) => [
    [{ address: ACCOUNTS[number % 3] as Hex, topics: [toWord(7n)], data: new Uint8Array(3) }],
  ]
  for (let number = 1; number <= 200; number++)
    putLoggedBlock(batch, number, number % 5 === 0 ? [] : (logs(number) as never))
  await batch.write()
  const rows = receiptRows(store, 1, 200)
  const numbers = [(await rows.next()).value?.number]
  await moveSegment(store)
  for await (const { number } of rows) numbers.push(number)
  expect(numbers).toEqual(Array.from({ length: 200 }, (_, index) => index + 1))
  const range = { id: 1, from: 1, to: 200 }
  expect(await runLogJob(store, { kind: 'index', ...range, places: 100_000 }, () => false)).toBe(200)
  const named = store.batch()
  putLogIndex(named, { reverts: 0, ranges: [range] })
  await named.write()
  const problems: string[] = []
  await verifyLogIndex(store, { earliest: 0, head: 200 }, (_, problem) => problems.push(problem))
  expect(problems).toEqual([])
  expect(await store.first(BUCKETS.logPostings)).toBeDefined()
})

const moverOf = (store: Store, bounds: { earliest: number; head: number }, warn: (text: string) => void = () => {}) =>
  new SegmentMover({
    store,
    blocks: bounds,
    head: () => bounds.head,
    logger: { ...silentLogger, warn: (_: unknown, text: string) => warn(text) } as never,
  })

test('blocks are moved when a whole segment is old enough, and not while history is being fetched', async () => {
  const store = await temporaryStore()
  await store.batch().put(BUCKETS.body, numberKey(3), Uint8Array.of(1)).write()
  const bounds = { earliest: 5, head: 10 * segmentBlocks }
  const mover = moverOf(store, bounds)
  await mover.settled()
  expect(readMoved(store).moved).toBe(0)
  bounds.earliest = 0
  bounds.head = segmentBlocks + recentBlocks - 64
  await moverOf(store, bounds).settled()
  expect(readMoved(store).moved).toBe(0)
  bounds.head += 64
  await moverOf(store, bounds).settled()
  expect(readMoved(store)).toEqual({ moved: segmentBlocks, cleared: segmentBlocks, dropped: 0 })
  expect(await store.get(BUCKETS.body, numberKey(3))).toEqual(Uint8Array.of(1))
  bounds.head += 2 * segmentBlocks
  const last = moverOf(store, bounds)
  await last.settled()
  expect(readMoved(store).moved).toBe(3 * segmentBlocks)
  await last.close()
  bounds.head += segmentBlocks
  await last.settled()
  expect(readMoved(store).moved).toBe(3 * segmentBlocks)
})

test('a move that fails leaves the rows, is told of, and is tried again some blocks later', async () => {
  const store = await temporaryStore()
  await store.batch().put(BUCKETS.body, numberKey(3), Uint8Array.of(1)).write()
  const bounds = { earliest: 0, head: segmentBlocks + recentBlocks }
  const told: string[] = []
  const mover = moverOf(store, bounds, text => told.push(text))
  writeFileSync(store.segmentFolder, 'a file')
  await mover.settled()
  expect(told).toEqual(['old blocks were not moved'])
  expect(await store.first(BUCKETS.body)).toBeDefined()
  unlinkSync(store.segmentFolder)
  await mover.settled()
  expect(readMoved(store).moved).toBe(0)
  bounds.head += 64
  await mover.settled()
  expect(readMoved(store).moved).toBe(segmentBlocks)
})
