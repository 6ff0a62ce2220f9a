import { setTimeout } from 'node:timers/promises'
import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { createRandom, type Random } from '@tandem/base/random.ts'
import { afterEach, expect, test, vi } from 'vitest'
import { removeBlock } from '../../src/chain/dev/rewind.ts'
import { LogIndexer } from '../../src/chain/logs/log-indexer.ts'
import { runLogJob, verifyLogIndex } from '../../src/chain/logs/log-jobs.ts'
import { queryLogs } from '../../src/chain/logs/log-query.ts'
import { BlockStore } from '../../src/chain/store/block-store.ts'
import { packCriteria } from '../../src/chain/store/log-criteria.ts'
import { cutLogIndex, readLogIndex } from '../../src/chain/store/log-index.ts'
import { putHead } from '../../src/chain/store/put-block.ts'
import type { Log } from '../../src/primitives/receipt/log.ts'
import { RlpCursor } from '../../src/primitives/rlp/rlp-cursor.ts'
import type { Batch } from '../../src/storage/batch.ts'
import { BUCKETS } from '../../src/storage/buckets.ts'
import type { Store } from '../../src/storage/store.ts'
import { putLoggedBlock } from '../support/logged-chain.ts'
import { isWanted, type WantedLogs } from '../support/plain-logs.ts'
import { SEED } from '../support/seed.ts'
import { temporaryStore } from '../unit/storage/temp-store.ts'

const address = (n: number): Hex => `0x${(n + 1).toString(16).padStart(40, '0')}`
const ADDRESSES = [0, 1, 2, 3, 4].map(address)
const TOPICS = [0, 1, 2, 3, 4, 5].map(n => toWord(BigInt(n)))
const LIMITS = { results: 1_000_000, timeoutMs: 60_000, nowMs: () => 0 }
const extra = { extraOf: () => undefined as never }

afterEach(() => vi.restoreAllMocks())

/** A chain of blocks with logs, their index, and the same logs in a list. */
class IndexedChain {
  readonly store: Store
  readonly blocks: BlockStore
  readonly random: Random
  readonly logs: (readonly (readonly Log[])[])[] = [[]]
  earliest = 0
  /** Happens after the next step's rows are written, before they count. */
  meanwhile: (() => Promise<void>) | undefined
  indexer: LogIndexer
  #version = 0

  constructor(store: Store, random: Random) {
    this.store = store
    this.random = random
    this.blocks = new BlockStore(store, extra)
    this.indexer = this.restarted()
  }

  get head(): number {
    return this.logs.length - 1
  }

  restarted(): LogIndexer {
    const { store } = this
    this.indexer = new LogIndexer({
      store,
      earliest: () => this.earliest,
      run: async job => {
        const last = await runLogJob(store, job, () => false)
        const { meanwhile } = this
        this.meanwhile = undefined
        await meanwhile?.()
        return last
      },
      stop: () => {},
      exclusively: work => work(),
      logger: silentLogger,
      sizes: { logIndexWait: 4, logIndexBlocks: 16, logIndexPlaces: 60, logIndexMerge: 3 },
    })
    return this.indexer
  }

  /** Adds blocks; `fill` makes the logs of one. */
  async grow(count: number, fill = () => this.#someLogs()): Promise<void> {
    const batch = this.store.batch()
    for (let i = 0; i < count; i++) {
      this.logs.push(fill())
      putLoggedBlock(batch, this.head, this.logs.at(-1) as Log[][], this.#version)
    }
    await batch.write({ sync: false })
  }

  async rewind(to: number): Promise<void> {
    const batch = this.store.batch()
    for (let number = this.head; number > to; number--) await removeBlock(batch, this.store, number)
    putHead(batch, to)
    cutLogIndex(batch, this.store, to)
    await batch.write({ sync: false })
    this.logs.length = to + 1
    this.#version++
    this.blocks.forget()
  }

  /** Lets the index work, and ends it after some writes as a kill does. */
  async index(writes = Number.POSITIVE_INFINITY): Promise<void> {
    const make = this.store.batch.bind(this.store)
    let left = writes
    const batches = vi.spyOn(this.store, 'batch').mockImplementation(() => {
      const batch = make()
      const write = batch.write.bind(batch)
      batch.write = async options => {
        if (left-- <= 0) throw new Error('killed')
        await write(options)
      }
      return batch satisfies Batch
    })
    await this.indexer.settled()
    batches.mockRestore()
    if (left <= 0) this.restarted()
  }

  async check(wanted: WantedLogs & { fromBlock: number; toBlock: number }): Promise<void> {
    const { fromBlock, toBlock } = wanted
    const expected: string[] = []
    for (let number = fromBlock; number <= Math.min(toBlock, this.head); number++) {
      let logIndex = 0
      for (const [transaction, logs] of (this.logs[number] ?? []).entries())
        for (const log of logs) {
          if (isWanted(wanted, log)) expected.push(`${number} ${transaction} ${logIndex} ${log.address} ${log.topics}`)
          logIndex++
        }
    }
    const found = await queryLogs(this.store, this.blocks, { fromBlock, toBlock, ...packCriteria(wanted) }, LIMITS)
    expect(
      found.map(log => `${log.blockNumber} ${log.transactionIndex} ${log.logIndex} ${log.address} ${log.topics}`),
    ).toEqual(expected)
  }

  async problems(): Promise<string[]> {
    const problems: string[] = []
    await verifyLogIndex(
      this.store,
      { earliest: 0, head: this.head },
      (number, problem) => void problems.push(`${number}: ${problem}`),
    )
    return problems
  }

  #someLogs(): readonly (readonly Log[])[] {
    const { random } = this
    if (random.chance(0.3)) return []
    return Array.from({ length: 1 + random.below(3) }, () =>
      Array.from({ length: random.below(4) }, () => ({
        address: random.pick(ADDRESSES),
        topics: Array.from({ length: random.below(4) }, () => random.pick(TOPICS)),
        data: new Uint8Array(random.below(50)),
      })),
    )
  }
}

const someCriteria = ({ random, head }: IndexedChain) => {
  const fromBlock = random.below(head + 2)
  const some = <T>(items: readonly T[], most: number): T[] =>
    Array.from({ length: random.below(most + 1) }, () => random.pick(items))
  return {
    fromBlock,
    toBlock: fromBlock + random.below(head + 2),
    addresses: some([...ADDRESSES, address(77)], 2),
    topics: Array.from({ length: random.below(4) }, () => (random.chance(0.5) ? null : some(TOPICS, 2))),
  }
}

test.each([0, 1, 2, 3])(
  'queries find what a filter of all logs finds, whatever is reverted, killed and merged (%i)',
  async run => {
    const chain = new IndexedChain(await temporaryStore(), createRandom(SEED + run))
    const { random } = chain
    let kills = 0
    let mostRanges = 0
    for (let round = 0; round < 60; round++) {
      await chain.grow(1 + random.below(random.chance(0.2) ? 60 : 9))
      if (random.chance(0.3)) await chain.rewind(Math.max(0, chain.head - random.below(random.chance(0.3) ? 80 : 8)))
      if (random.chance(0.5)) {
        kills++
        await chain.index(random.below(6))
      } else await chain.index()
      mostRanges = Math.max(mostRanges, readLogIndex(chain.store).ranges.length)
      for (let i = 0; i < 6; i++) await chain.check(someCriteria(chain))
    }
    await chain.index()
    expect(await chain.problems()).toEqual([])
    const { ranges } = readLogIndex(chain.store)
    expect(chain.head - (ranges.at(-1)?.to ?? 0)).toBeLessThan(4)
    const ids = new Set<number>()
    for await (const key of chain.store.keys(BUCKETS.logPostings)) ids.add(Buffer.from(key).readUInt32BE())
    for (const id of ids) expect(ranges.map(range => range.id)).toContain(id)
    expect(kills).toBeGreaterThan(10)
    expect(mostRanges).toBeLessThan(40)
  },
)

test.each([
  ['adds blocks', 20],
  ['merges ranges', 0],
])('a revert while a step %s voids the step', async (_, grown) => {
  const chain = new IndexedChain(await temporaryStore(), createRandom(SEED))
  // Two ranges; a third one is merged with them.
  for (let i = 0; i < 2; i++) {
    await chain.grow(4)
    await chain.index()
  }
  await chain.grow(4 + grown)
  let steps = 0
  const revert = async () => {
    // The first step adds the third range, the second one merges.
    if (grown === 0 && steps++ === 0) {
      chain.meanwhile = revert
      return
    }
    await chain.rewind(6)
    await chain.grow(12)
  }
  chain.meanwhile = revert
  await chain.index()
  for (let i = 0; i < 40; i++) await chain.check(someCriteria(chain))
  expect(await chain.problems()).toEqual([])
})

test('a step that fails is tried again some blocks later, not with each block', async () => {
  const chain = new IndexedChain(await temporaryStore(), createRandom(SEED))
  const tries: number[] = []
  const indexer = new LogIndexer({
    store: chain.store,
    earliest: () => 0,
    run: async () => {
      tries.push(chain.head)
      throw new Error('a damaged segment')
    },
    stop: () => {},
    exclusively: work => work(),
    logger: silentLogger,
  })
  await chain.grow(200)
  for (let i = 0; i < 40; i++) {
    await chain.grow(1)
    indexer.poke()
    await setTimeout(2)
  }
  await indexer.close()
  expect(tries).toEqual([201, 217, 233])
})

test('a history that is fetched downwards, and a chain without an index, are indexed from the newest block', async () => {
  const chain = new IndexedChain(await temporaryStore(), createRandom(SEED))
  await chain.grow(100)
  chain.earliest = 60
  await chain.index()
  expect(readLogIndex(chain.store).ranges[0]?.from).toBe(60)
  for (chain.earliest of [50, 47, 20, 1]) {
    await chain.index()
    await chain.check({ fromBlock: chain.earliest, toBlock: 100, addresses: [], topics: [] })
    await chain.check({ fromBlock: chain.earliest, toBlock: 100, addresses: [address(2)], topics: [] })
  }
  const { ranges } = readLogIndex(chain.store)
  expect(ranges[0]?.from).toBe(1)
  for (const [at, { from }] of ranges.slice(1).entries()) expect(from).toBe((ranges[at]?.to ?? 0) + 1)
  expect(await chain.problems()).toEqual([])
})

test('a long list is read from where the query begins', async () => {
  const chain = new IndexedChain(await temporaryStore(), createRandom(SEED))
  const log = (n: number): Log => ({
    address: address(1),
    topics: n % 1_000 === 7 ? [TOPICS[1] as Hex] : [],
    data: new Uint8Array(0),
  })
  for (let i = 0; i < 40; i++) await chain.grow(100, () => [[log(chain.head), log(1)]])
  await chain.index()
  for (const [fromBlock, toBlock] of [
    [3_990, 4_000],
    [1_234, 1_240],
    [0, 4_000],
  ] as const) {
    await chain.check({ fromBlock, toBlock, addresses: [address(1)], topics: [] })
    await chain.check({ fromBlock, toBlock, addresses: [address(1)], topics: [[TOPICS[1] as Hex]] })
  }
})

test('the logs of one sender among those of full blocks are decoded alone', async () => {
  const chain = new IndexedChain(await temporaryStore(), createRandom(SEED))
  const sender = toWord(0x5e5e5en)
  let wanted = 0
  await chain.grow(42, () =>
    Array.from({ length: 476 }, (_, index) => {
      const from = index === 100 && chain.head % 2 === 0 && wanted++ < 25 ? sender : toWord(BigInt(1_000 + index))
      return [{ address: address(1), topics: [TOPICS[0] as Hex, from, TOPICS[1] as Hex], data: new Uint8Array(32) }]
    }),
  )
  const query = { fromBlock: 0, toBlock: 42, ...packCriteria({ addresses: [], topics: [null, [sender]] }) }
  for (const isIndexed of [false, true]) {
    if (isIndexed) await chain.index()
    chain.blocks.forget()
    const hex = vi.spyOn(RlpCursor.prototype, 'hex')
    expect(await queryLogs(chain.store, chain.blocks, query, LIMITS)).toHaveLength(21)
    // Items are the address and three topics of each log, and the header of each block.
    const perBlock = 9
    expect(hex.mock.calls.length).toBeLessThan(21 * 4 + 42 * perBlock + 1)
    hex.mockRestore()
  }
})

test('a place that is missing, and one too many, are found', async () => {
  const chain = new IndexedChain(await temporaryStore(), createRandom(SEED))
  await chain.grow(40)
  await chain.index()
  const { store } = chain
  const row = await store.first(BUCKETS.logPostings)
  if (row === undefined) throw new Error('there are rows')
  const [key, value] = row
  await store.batch().del(BUCKETS.logPostings, key).write()
  expect(await chain.problems()).toEqual([
    expect.stringMatching(/log index of blocks \d+ to \d+ is not that of their logs/),
  ])
  await store.batch().put(BUCKETS.logPostings, key, value).write()
  expect(await chain.problems()).toEqual([])
  await store
    .batch()
    .put(BUCKETS.logPostings, key, Uint8Array.of(...value, 2, 0))
    .write()
  expect(await chain.problems()).toHaveLength(1)
  await store.batch().put(BUCKETS.logPostings, key, value.subarray(0, -1)).write()
  expect(await chain.problems()).toEqual([expect.stringContaining('cannot be read')])
})
