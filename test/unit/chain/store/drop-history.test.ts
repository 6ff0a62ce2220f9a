import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { afterEach, expect, test, vi } from 'vitest'
import { LogIndexer } from '../../../../src/chain/logs/log-indexer.ts'
import { runLogJob, verifyLogIndex } from '../../../../src/chain/logs/log-jobs.ts'
import { BlockStore } from '../../../../src/chain/store/block-store.ts'
import { readEarliestBlock } from '../../../../src/chain/store/earliest-block.ts'
import { EVERY_LOG } from '../../../../src/chain/store/log-criteria.ts'
import { readLogIndex } from '../../../../src/chain/store/log-index.ts'
import { historyStart, isDropPending, SegmentMover } from '../../../../src/chain/store/segment-mover.ts'
import { verifyChain } from '../../../../src/chain/verify-chain.ts'
import { createChainView } from '../../../../src/chain/view.ts'
import { servePort } from '../../../../src/node/network/serve-port.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import { numberKey } from '../../../../src/storage/keys.ts'
import { checkSegments, readMoved } from '../../../../src/storage/move-segment.ts'
import { metaKey } from '../../../../src/storage/schema.ts'
import { Store } from '../../../../src/storage/store.ts'
import { ACCOUNT_KEYS, ACCOUNTS, openTestChain, signedRaw } from '../../../support/chain.ts'
import { putLoggedBlock } from '../../../support/logged-chain.ts'
import { temporaryDirectory, temporaryStore } from '../../storage/temp-store.ts'

afterEach(() => vi.restoreAllMocks())

const SEGMENT = 8
const HEAD = 37

const moverOf = (store: Store, blocks: { earliest: number }, head: () => number, history: number | undefined) =>
  new SegmentMover({ store, blocks, head, history, recentBlocks: 4, logger: silentLogger })

/** Looks until nothing is left to do. */
const settle = async (
  store: Store,
  blocks: { earliest: number },
  head: number,
  history: number | undefined,
): Promise<void> => {
  for (let look = 0; look < 2; look++) await moverOf(store, blocks, () => head, history).settled()
}

const log = (number: number) => ({
  address: ACCOUNTS[number % 3] as Hex,
  topics: [toWord(7n)],
  data: new Uint8Array(3),
})

const putBlocks = async (store: Store, from: number, to: number): Promise<void> => {
  const batch = store.batch()
  for (let number = from; number <= to; number++) putLoggedBlock(batch, number, [[log(number)], []] as never)
  await batch.write()
}

const readerOf = (store: Store) => new BlockStore(store, { extraOf: () => undefined as never })

const hashesOf = async (store: Store): Promise<readonly Hex[]> =>
  Promise.all(
    Array.from(
      { length: HEAD + 1 },
      async (_, number) => (await readerOf(store).stored(number))?.transactionHash(1) as Hex,
    ),
  )

const dump = async (store: Store): Promise<readonly string[]> => {
  const rows: string[] = readdirSync(store.segmentFolder).toSorted()
  for (const bucket of Object.values(BUCKETS))
    for await (const [key, value] of store.entries(bucket))
      rows.push([bucket, Buffer.from(key).toString('hex'), Buffer.from(value).toString('hex')].join(' '))
  return rows
}

/** Fails the given write, flush or compaction and all later ones, as in a process killed there. Returns whether it came to that. */
const killAt = (store: Store, position: number) => {
  let count = 0
  const step = async <T>(work: () => T | Promise<T>): Promise<T> => {
    if (count++ >= position) throw new Error('killed')
    return work()
  }
  const { batch, flush, compact } = {
    batch: store.batch.bind(store),
    flush: store.flush.bind(store),
    compact: store.compact.bind(store),
  }
  vi.spyOn(store, 'batch').mockImplementation(() => {
    const made = batch()
    const write = made.write.bind(made)
    made.write = options => step(() => write(options))
    return made
  })
  vi.spyOn(store, 'flush').mockImplementation(() => step(flush))
  vi.spyOn(store, 'compact').mockImplementation((bucket, range) => step(() => compact(bucket, range)))
  return () => count > position
}

test.each(['in tables', 'in segments'])(
  'blocks %s are dropped whichever write is the last of a process',
  { timeout: 120_000 },
  async place => {
    const origin = await temporaryDirectory()
    const first = await Store.open(origin, { segmentBlocks: SEGMENT })
    await putBlocks(first, 0, HEAD)
    if (place === 'in segments') await settle(first, { earliest: 0 }, HEAD, undefined)
    const hashes = await hashesOf(first)
    await first.close()
    const fresh = async () => {
      const path = join(await temporaryDirectory(), 'db')
      cpSync(origin, path, { recursive: true })
      return path
    }
    const whole = await Store.open(await fresh(), { segmentBlocks: SEGMENT })
    const start = historyStart(whole, HEAD, 12)
    expect(start).toBe(24)
    await settle(whole, { earliest: 0 }, HEAD, 12)
    const expected = await dump(whole)
    expect(expected.slice(0, 2)).toEqual(['24.seg', expect.stringMatching(/^1 /)])
    expect(readMoved(whole)).toEqual({ moved: 32, cleared: 32, dropped: 24 })
    await whole.close()
    let isKilled = true
    for (let position = 0; isKilled; position += process.env['PLACES'] === undefined ? 3 : 1) {
      const path = await fresh()
      const store = await Store.open(path, { segmentBlocks: SEGMENT })
      const wasKilled = killAt(store, position)
      await settle(store, { earliest: 0 }, HEAD, 12)
      isKilled = wasKilled()
      vi.restoreAllMocks()
      await store.close()
      const after = await Store.open(path, { segmentBlocks: SEGMENT })
      await checkSegments(after, true)
      const blocks = readerOf(after)
      blocks.earliest = await readEarliestBlock(after)
      for (const number of [0, ...Array.from({ length: HEAD - start + 1 }, (_, index) => start + index)]) {
        expect(await blocks.encoded(number), `block ${number} after write ${position}`).toBeDefined()
        expect(await blocks.locate(hashes[number] as Hex)).toEqual({ number, index: 1 })
      }
      await settle(after, blocks, HEAD, 12)
      expect(await dump(after), `after write ${position}`).toEqual(expected)
      for (let number = 1; number < start; number++) {
        expect(await blocks.encoded(number)).toBeUndefined()
        expect(await blocks.locate(hashes[number] as Hex)).toBeUndefined()
      }
      await after.close()
    }
  },
)

test('the start of the history is told some blocks before anything is deleted', async () => {
  const store = await Store.open(await temporaryDirectory(), { segmentBlocks: SEGMENT })
  await putBlocks(store, 0, 120)
  const blocks = { earliest: 0 }
  let head = HEAD
  const mover = moverOf(store, blocks, () => head, 12)
  await mover.settled()
  expect([blocks.earliest, await readEarliestBlock(store), readMoved(store).dropped]).toEqual([24, 24, 0])
  head += 63
  await mover.settled()
  expect(await readerOf(store).encoded(23)).toBeDefined()
  head = HEAD + 64
  await mover.settled()
  expect([blocks.earliest, readMoved(store).dropped]).toEqual([88, 24])
  expect(await readerOf(store).encoded(23)).toBeUndefined()
  expect(await readerOf(store).encoded(24)).toBeDefined()
  await mover.close()
  await moverOf(store, blocks, () => head, 12).settled()
  expect(await readerOf(store).encoded(88)).toBeDefined()
  // More history from now on does not bring them back, nor does all of it.
  for (const history of [50, undefined]) {
    await settle(store, blocks, 120, history)
    expect([blocks.earliest, readMoved(store).dropped]).toEqual([88, 88])
  }
  await store.close()
})

test.each([undefined, 30])('blocks told as dropped are dropped when a start keeps more (%s)', async history => {
  const store = await Store.open(await temporaryDirectory(), { segmentBlocks: SEGMENT })
  await putBlocks(store, 0, HEAD)
  await moverOf(store, { earliest: 0 }, () => HEAD, 12).settled()
  expect([await readEarliestBlock(store), readMoved(store).dropped]).toEqual([24, 0])
  await putBlocks(store, HEAD + 1, 52)
  const blocks = { earliest: 24 }
  expect(isDropPending(store, blocks)).toBe(true)
  await settle(store, blocks, 52, history)
  expect(isDropPending(store, blocks)).toBe(false)
  expect(blocks.earliest).toBe(24)
  expect(readMoved(store)).toEqual({ moved: 48, cleared: 48, dropped: 24 })
  expect(await readerOf(store).encoded(23)).toBeUndefined()
  expect(await readerOf(store).encoded(24)).toBeDefined()
  await store.close()
})

test('genesis stays for a reader that began before its segment was dropped', async () => {
  const store = await Store.open(await temporaryDirectory(), { segmentBlocks: SEGMENT })
  await putBlocks(store, 0, HEAD)
  const blocks = { earliest: 0 }
  await settle(store, blocks, HEAD, undefined)
  const before = store.snapshot()
  const read = async (number: number) => Buffer.from((await store.get(BUCKETS.body, numberKey(number), before)) ?? [])
  const genesis = await read(0)
  expect(genesis.byteLength).toBeGreaterThan(0)
  await settle(store, blocks, HEAD, 12)
  expect(readMoved(store).dropped).toBe(24)
  expect(await read(0)).toEqual(genesis)
  expect(await read(1)).toHaveLength(0)
  await before.close()
  await store.close()
})

test('a read under way while its segment is dropped has genesis, or nothing', async () => {
  const store = await Store.open(await temporaryDirectory(), { segmentBlocks: SEGMENT })
  await putBlocks(store, 0, HEAD)
  const blocks = { earliest: 0 }
  await settle(store, blocks, HEAD, undefined)
  const genesis = await store.get(BUCKETS.body, numberKey(0))
  const mark = store.getSync(BUCKETS.meta, metaKey('segments'))
  await settle(store, blocks, HEAD, 12)
  for (const [number, expected] of [
    [0, genesis],
    [1, undefined],
  ] as const) {
    // It read the mark before the drop, and opens the file after it.
    const reader = await Store.attach(store.share())
    vi.spyOn(reader, 'getSync').mockReturnValueOnce(mark)
    const found = await reader.get(BUCKETS.body, numberKey(number))
    expect(found && Buffer.from(found)).toEqual(expected && Buffer.from(expected))
    await reader.close()
  }
  await store.close()
})

test('blocks above a history that is being fetched are neither moved nor told as dropped', async () => {
  const store = await Store.open(await temporaryDirectory(), { segmentBlocks: SEGMENT })
  await putBlocks(store, 30, HEAD)
  const blocks = { earliest: 30 }
  await settle(store, blocks, HEAD, 12)
  expect([blocks.earliest, await readEarliestBlock(store)]).toEqual([30, 0])
  await putBlocks(store, 22, 29)
  blocks.earliest = 22
  await settle(store, blocks, HEAD, 12)
  expect(blocks.earliest).toBe(24)
  expect(readMoved(store)).toEqual({ moved: 32, cleared: 32, dropped: 24 })
  expect(await readerOf(store).encoded(23)).toBeUndefined()
  await store.close()
})

test('the log index ends ranges of dropped blocks and verifies the rest', async () => {
  const store = await temporaryStore()
  await putBlocks(store, 1, 40)
  const bounds = { earliest: 0, head: 40 }
  const indexerOf = () =>
    new LogIndexer({
      store,
      earliest: () => bounds.earliest,
      run: job => runLogJob(store, job, () => false),
      stop: () => {},
      exclusively: work => work(),
      logger: silentLogger,
      sizes: { logIndexWait: 4, logIndexBlocks: 20, logIndexPlaces: 10_000, logIndexMerge: 16 },
    })
  await indexerOf().settled()
  bounds.earliest = 30
  await indexerOf().settled()
  const { ranges } = readLogIndex(store)
  expect(ranges.map(({ from, to }) => [from, to])).toEqual([[21, 40]])
  const ids = new Set<number>()
  for await (const key of store.keys(BUCKETS.logPostings)) ids.add(Buffer.from(key).readUInt32BE())
  expect([...ids]).toEqual(ranges.map(({ id }) => id))
  for (let number = 1; number < 30; number++)
    await store.clear(BUCKETS.receipts, {
      gte: Buffer.from([0, 0, 0, 0, 0, 0, 0, number]),
      lt: Buffer.from([0, 0, 0, 0, 0, 0, 0, number + 1]),
    })
  const problems: string[] = []
  await verifyLogIndex(store, bounds, (_, problem) => problems.push(problem))
  expect(problems).toEqual([])
})

test('a chain whose old blocks are dropped verifies, serves what it has, and says what it has not', {
  timeout: 60_000,
}, async () => {
  const dir = await temporaryDirectory()
  const options = { segmentBlocks: SEGMENT }
  let chain = await openTestChain(dir, options)
  const raw = signedRaw(ACCOUNT_KEYS[0] as Uint8Array, { nonce: 0, to: ACCOUNTS[1] as Hex, value: 5n })
  const hash = await chain.pool.service.submit(raw)
  for (let number = 1; number <= 22; number++) await chain.mine()
  await settle(chain.store, chain.blocks, 22, 6)
  await chain.close()
  chain = await openTestChain(dir, options)
  const { store, blocks } = chain
  expect(blocks.earliest).toBe(16)
  await chain.mine()
  expect(await verifyChain(store, { from: 0 })).toMatchObject({ problems: [], head: 23, blocks: 8 })
  const unused = () => Promise.reject(new Error('nobody asks'))
  const view = createChainView({
    ...chain,
    ...chain.genesis,
    council: chain.sources.council,
    pending: {} as never,
    wideLogs: unused,
  } as never)
  const missing = { code: 'HISTORY_MISSING', detail: { earliest: 16 } }
  for (const read of [
    () => view.blockByNumber(15),
    () => view.headerByNumber(1),
    () => view.receipts(15),
    () => view.receiptStream(15),
    () => view.transaction(hash),
    () => view.receipt(hash),
    () => view.logs({ fromBlock: 15, toBlock: 17 } as never),
    () => view.internalTransfers(15),
    () => view.tips(15),
  ])
    await expect(read()).rejects.toMatchObject(missing)
  const dropped = view.logs({ fromBlock: 16, toBlock: 17, ...EVERY_LOG })
  blocks.earliest = 17
  await expect(dropped).rejects.toMatchObject({ code: 'HISTORY_MISSING' })
  blocks.earliest = 16
  expect((await view.blockByNumber(0))?.header.number).toBe(0)
  expect((await view.blockByNumber(16))?.header.number).toBe(16)
  const port = servePort(blocks)
  expect(await port.blocks({ from: 15, count: 3 }, 1_000_000)).toEqual([])
  expect(await port.blocks({ from: 16, count: 3 }, 1_000_000)).toHaveLength(3)
  await chain.close()
})
