import { proofStats } from '@tandem/explorer/api/routes/proof-stats.ts'
import type { BlockRecord } from '@tandem/explorer/store/records.ts'
import { SqlIndex } from '@tandem/explorer/store/sql/sql-index.ts'
import { SqliteDatabase } from '@tandem/explorer/store/sqlite/sqlite-database.ts'
import { expect, onTestFinished, test } from 'vitest'
import { addressOf, RandomBlocks } from './random-blocks.ts'

const HOUR = 3_600
/** The first second of an hour and of a day. */
const START = 1_735_689_600

/** An index of blocks an hour apart, with a header in each but the first, 20 seconds after the one before. */
const indexed = async (count: number): Promise<SqlIndex> => {
  const index = new SqlIndex(new SqliteDatabase({ path: ':memory:' }))
  onTestFinished(() => index.close())
  const blocks: BlockRecord[] = []
  const source = new RandomBlocks({ seed: 5 })
  for (let number = 0; number < count; number++) {
    const block = source.next(blocks.at(-1))
    const timestamp = START + 20 * number
    const proof = {
      height: number,
      id: block.hash,
      miner: addressOf(number % 3),
      timestamp,
      difficulty: 4_000n,
      nonce: '0x0000000000000007' as const,
      algorithm: number < 10 ? 'sha256d' : 'nativeHash',
    }
    blocks.push({ ...block, timestamp, proofs: number === 0 ? [] : [proof] })
  }
  await index.append(blocks)
  return index
}
const statsOf = (index: SqlIndex, number: number, timestamp = START + 20 * number) =>
  proofStats({ index }, { head: { number, timestamp }, rewardPerHeader: 1.5, spacingSeconds: 20 })

test('a chain without miners has empty statistics', async () => {
  expect(await statsOf(await indexed(1), 0)).toMatchObject({
    newest: undefined,
    averageBlockTime: null,
    hashrate: null,
    recentBlocks: [],
    blockTimeDist: [],
    dailyMiners: [],
    hashrateTrend: [],
  })
})

test('intervals, rates and rewards follow from the headers', async () => {
  const index = await indexed(31)
  const stats = await statsOf(index, 32)
  expect(stats).toMatchObject({ averageBlockTime: 20, hashrate: '200' })
  expect(stats.newest).toMatchObject({ height: 30, algorithm: 'nativeHash' })
  expect(stats.recentBlocks).toHaveLength(20)
  expect(stats.recentBlocks.slice(0, 2).map(({ height, reward, mainBlock }) => [height, reward, mainBlock])).toEqual([
    [30, 1.5, 30],
    [29, 1.5, 29],
  ])
  expect(stats.blockTimeDist.map(({ count }) => count)).toEqual([0, 0, 0, 0, 29, 0, 0, 0, 0, 0, 0, 0])
  expect(stats.blockTimeDist[4]).toMatchObject({ bucket: '20-25s', from: 20, to: 25 })
  expect(stats.blockTimeDist.at(-1)).toMatchObject({ from: 55, to: null })
  expect(stats.dailyMiners).toEqual([{ date: '2025-01-01', miners: 3, blocks: 30 }])
  expect(stats.hourlyProduction).toHaveLength(24)
  expect(stats.hourlyProduction.at(-1)).toEqual({ hour: START, blocks: 30 })
  expect(stats.hashrateTrend).toEqual([])
  // An hour later that hour is over.
  const later = await statsOf(index, 32, START + HOUR)
  expect(later.hashrateTrend).toEqual([{ timestamp: START, hashrate: '33', difficulty: '4000' }])
})

test('a rate of few headers would be a guess', async () => {
  expect((await statsOf(await indexed(15), 15)).hashrate).toBeNull()
})

test('proof headers of the index are those of its blocks, the newest first', async () => {
  const blocks = new RandomBlocks({ seed: 7 }).chain(80)
  const index = new SqlIndex(new SqliteDatabase({ path: ':memory:' }))
  await index.append(blocks)
  const { items } = await index.proofHeaders({ limit: 100, offset: 0, after: null })
  const proofs = blocks.flatMap(({ number, proofs: made }) => made.map(proof => ({ ...proof, blockNumber: number })))
  expect(items.toReversed()).toEqual(proofs)
  await index.close()
})
