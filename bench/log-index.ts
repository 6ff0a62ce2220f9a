import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { createRandom } from '@tandem/base/random.ts'
import { LogIndexer } from '../src/chain/logs/log-indexer.ts'
import { LogService } from '../src/chain/logs/log-service.ts'
import { BlockStore } from '../src/chain/store/block-store.ts'
import { packCriteria } from '../src/chain/store/log-criteria.ts'
import type { Log } from '../src/primitives/receipt/log.ts'
import { BUCKETS } from '../src/storage/buckets.ts'
import { Store } from '../src/storage/store.ts'
import { putLoggedBlock } from '../test/support/logged-chain.ts'

/*
 * Log index of a long chain: `--blocks` blocks of `--transactions` transactions, each with a token transfer, and `--hits` logs of one more
 * address spread over them. Prints the time of the index, bytes per log and transaction, and that of queries, cold (a new handle of the
 * database, and nothing of it in memory but the system's pages) and warm; and the processor time of the logs of one sender in 42 full blocks.
 */
const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '100000' },
    transactions: { type: 'string', default: '2' },
    hits: { type: 'string', default: '200' },
  },
})
const [BLOCKS, TRANSACTIONS, HITS] = [values.blocks, values.transactions, values.hits].map(Number) as [
  number,
  number,
  number,
]
const random = createRandom(1)
const account = (n: number): Hex => toWord(BigInt(n) + 2n ** 150n)
const address = (n: number): Hex => `0x${(n + 1).toString(16).padStart(40, '0')}`
const TRANSFER = toWord(0xddf252adn)
const transfer = (from: Hex): Log => ({
  address: address(random.below(20)),
  topics: [TRANSFER, from, account(random.below(1_000_000))],
  data: new Uint8Array(32).fill(1),
})

const folder = mkdtempSync(join(tmpdir(), 'tandem-logs-'))
const path = join(folder, 'db')
const ms = (since: number): number => Math.round((performance.now() - since) * 10) / 10
const cpuMs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since)
  return Math.round((user + system) / 100) / 10
}
const SENDER = toWord(0x5e5e5en)
const FULL = 42

try {
  let store = await Store.open(path)
  const startedMs = performance.now()
  const every = Math.floor(BLOCKS / HITS)
  for (let number = 1; number <= BLOCKS; ) {
    const batch = store.batch()
    for (let i = 0; i < 500 && number <= BLOCKS; i++, number++) {
      const logs: Log[][] = Array.from({ length: TRANSACTIONS }, () => [transfer(account(random.below(1_000_000)))])
      if (number % every === 0) logs.push([{ address: address(77), topics: [], data: new Uint8Array(0) }])
      putLoggedBlock(batch, number, logs)
    }
    await batch.write({ sync: false })
  }
  const batch = store.batch()
  for (let number = BLOCKS + 1; number <= BLOCKS + FULL; number++) {
    const logs = Array.from({ length: 476 }, (_, i) => [transfer(i === 100 && number % 5 < 3 ? SENDER : account(i))])
    putLoggedBlock(batch, number, logs)
  }
  await batch.write()
  const made = ms(startedMs)
  const head = BLOCKS + FULL
  const open = () => new LogService({ store, workerUrl: new URL('../src/rpc/encode/log-worker.ts', import.meta.url) })
  let service = open()
  const indexer = new LogIndexer({
    store,
    earliest: () => 0,
    run: job => service.index(job),
    stop: () => service.stopIndex(),
    exclusively: work => work(),
    logger: silentLogger,
  })
  const indexMs = performance.now()
  const indexCpu = process.cpuUsage()
  await indexer.settled()
  const indexed = { ms: ms(indexMs), cpuMs: cpuMs(indexCpu) }
  const sizeOf = async (bucket: number) => {
    let [rows, bytes] = [0, 0]
    for await (const [key, value] of store.entries(bucket)) {
      rows++
      bytes += key.byteLength + 1 + value.byteLength
    }
    return { rows, bytes }
  }
  const logs = BLOCKS * TRANSACTIONS + HITS + FULL * 476
  const [postings, lookups] = [await sizeOf(BUCKETS.logPostings), await sizeOf(BUCKETS.transactionPlace)]
  await indexer.close()
  await service.close()
  await store.close()
  store = await Store.open(path)
  service = open()
  await service.query({ fromBlock: 0, toBlock: 0, ...packCriteria({ addresses: [], topics: [] }) })
  const run = async (fromBlock: number, criteria: Parameters<typeof packCriteria>[0]) => {
    const runs: number[] = []
    let found = 0
    let cpu = process.cpuUsage()
    for (let i = 0; i < 5; i++) {
      if (i === 1) cpu = process.cpuUsage()
      const since = performance.now()
      found = (await service.query({ fromBlock, toBlock: head, ...packCriteria(criteria) })).length
      runs.push(ms(since))
    }
    return {
      found,
      coldMs: runs[0],
      warmMs: Math.min(...runs.slice(1)),
      warmCpuMs: Math.round((cpuMs(cpu) / 4) * 10) / 10,
    }
  }
  const full = await run(BLOCKS + 1, { addresses: [], topics: [null, [SENDER]] })
  const one = await run(0, { addresses: [address(77)], topics: [] })
  const none = await run(0, { addresses: [address(78)], topics: [] })
  const pair = await run(0, { addresses: [address(3)], topics: [[TRANSFER], [account(123_456), account(5)]] })
  await service.close()
  const blocks = new BlockStore(store, { extraOf: () => undefined as never })
  const hash = (await blocks.stored(5))?.transactionHash(0) as Hex
  const locateMs = performance.now()
  await blocks.locate(hash)
  process.stdout.write(
    `${JSON.stringify({
      blocks: BLOCKS,
      logs,
      madeMs: made,
      index: indexed,
      indexRows: postings.rows,
      indexBytesPerLog: Math.round((postings.bytes / logs) * 10) / 10,
      lookupBytesPerTransaction: Math.round(lookups.bytes / lookups.rows),
      locateMs: ms(locateMs),
      full,
      one,
      none,
      pair,
    })}\n`,
  )
  await store.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
