import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { createApiServer } from '@tandem/explorer/api/api-server.ts'
import { totalsOf } from '@tandem/explorer/store/index-totals.ts'
import { openContracts } from '@tandem/explorer/store/open-contracts.ts'
import { openIndex, openIndexReader } from '@tandem/explorer/store/open-index.ts'
import { PostgresDatabase } from '@tandem/explorer/store/postgres/postgres-database.ts'
import { PARTITION_BLOCKS } from '@tandem/explorer/store/postgres/postgres-layout.ts'
import type { BlockRecord } from '@tandem/explorer/store/records.ts'
import { SqlIndex } from '@tandem/explorer/store/sql/sql-index.ts'
import { SqliteDatabase } from '@tandem/explorer/store/sqlite/sqlite-database.ts'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { ACCOUNTS } from '../../support/chain.ts'
import { startDatabaseGate } from '../../support/explorer/database-gate.ts'
import { POSTGRES_MISSING, type PostgresServer, startPostgres } from '../../support/explorer/postgres-server.ts'
import { indexerOf } from '../../support/explorer/token-chain.ts'
import { ATTACK_TIMEOUT, goodPaths, hostileRequests } from './api-requests.ts'
import { withApi } from './api-rig.ts'
import { indexStoreSuite } from './index-store-suite.ts'
import { addressOf, RandomBlocks } from './random-blocks.ts'
import { recount } from './recount.ts'
import { storedContract } from './stored-contract.ts'

vi.setConfig({ testTimeout: ATTACK_TIMEOUT, hookTimeout: 120_000 })

/** Each error has an id of its own. */
const withoutId = (body: string): string => body.replace(/"(requestId|errorId)":"[^"]*"/, '')

const query = async (url: string, sql: string): Promise<readonly unknown[]> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(sql)
  await client.end()
  return rows
}

const openOn = async (server: PostgresServer) => openIndex({ kind: 'postgres', url: await server.database() })

describe.skipIf(POSTGRES_MISSING)(`PostgreSQL${POSTGRES_MISSING ? ` (${POSTGRES_MISSING})` : ''}`, () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  indexStoreSuite('PostgreSQL index', () => openOn(server))

  test('both back ends give the same bytes, also for hostile requests', () =>
    withApi(async rig => {
      const index = await openOn(server)
      await indexerOf(rig.chain, index).catchUp()
      await index.writeLabels([{ address: ACCOUNTS[1] as Hex, name: 'Bob Exchange' }])
      const app = createApiServer({ context: { ...rig.context, index }, version: '1', logger: silentLogger })
      const same = async (request: { readonly method?: 'GET' | 'POST' | 'HEAD'; readonly url: string }) => {
        const [one, two] = await Promise.all([rig.app.inject(request), app.inject(request)])
        expect(two.statusCode, request.url).toBe(one.statusCode)
        expect(two.statusCode, request.url).toBeLessThan(500)
        expect(withoutId(two.body), request.url).toBe(withoutId(one.body))
      }
      for (const url of Object.values(goodPaths(rig)).flat()) await same({ url })
      const seed = Number(process.env['SEED'] ?? 20_261_122)
      for (const request of hostileRequests(seed, rig.coin)) await same(request)
      await app.close()
      await index.close()
    }))

  test('blocks of two partitions are listed, taken back and counted as those of one', async () => {
    const url = await server.database()
    const index = await openIndex({ kind: 'postgres', url })
    const first = PARTITION_BLOCKS - 4
    const parent = { number: first - 1, hash: toWord(1n), timestamp: 1_700_000_000 }
    // An index that was filled up to the end of its first partition.
    await query(url, `INSERT INTO position VALUES (1, ${parent.number}, '\\x${parent.hash.slice(2)}')`)
    const random = new RandomBlocks({ seed: 12, transactions: 10 })
    const blocks: BlockRecord[] = []
    for (let count = 0; count < 9; count++) blocks.push(random.next(blocks.at(-1) ?? parent))
    await index.append(blocks)
    const page = { limit: 100, offset: 0, after: null }
    const hashes = (rows: readonly BlockRecord[]) => rows.flatMap(({ transactions }) => transactions.map(tx => tx.hash))
    const listed = async () => {
      const { items } = await index.transactions({}, page)
      return items.map(({ hash }) => hash).toReversed()
    }
    expect((await index.blocks(page)).items.map(({ number }) => number).toReversed()).toEqual(
      blocks.map(({ number }) => number),
    )
    expect(await listed()).toEqual(hashes(blocks))
    const party = (await index.transactions({ party: addressOf(1) }, { ...page, ascending: true })).items
    expect(party.map(({ blockNumber }) => blockNumber)).toEqual(
      party.map(({ blockNumber }) => blockNumber).toSorted((a, b) => a - b),
    )
    expect(await query(url, 'SELECT count(*) AS count FROM block_1')).toEqual([{ count: '5' }])
    // The blocks before them have no rows here, so that sums are compared with what was appended.
    const sums = totalsOf(blocks)
    const counts = {
      blocks: sums.blocks,
      transactions: sums.transactions,
      transfers: sums.transfers,
      addresses: sums.accounts.size,
    }
    expect(await index.counters()).toMatchObject(counts)
    // Back behind the boundary, and over it again: also in a process that has made no partition yet.
    await index.rollback(PARTITION_BLOCKS - 2)
    expect(await query(url, 'SELECT count(*) AS count FROM tx_1')).toEqual([{ count: '0' }])
    await index.close()
    const again = await openIndex({ kind: 'postgres', url })
    await again.append(blocks.slice(3))
    expect((await again.position())?.hash).toBe(blocks.at(-1)?.hash)
    expect(await again.counters()).toMatchObject(counts)
    await again.close()
  })

  test('a partition whose transaction failed is made again by the next one', async () => {
    const url = await server.database()
    const index = await openIndex({ kind: 'postgres', url })
    const parent = { number: PARTITION_BLOCKS - 1, hash: toWord(1n), timestamp: 1_700_000_000 }
    await query(url, `INSERT INTO position VALUES (1, ${parent.number}, '\\x${parent.hash.slice(2)}')`)
    const block = new RandomBlocks({ seed: 14, transactions: 2 }).next(parent)
    const lost = async function* () {
      yield [block]
      throw new Error('the node is gone')
    }
    await expect(index.appendAll(lost())).rejects.toThrow('the node is gone')
    await index.append([block])
    expect((await index.position())?.hash).toBe(block.hash)
    await index.close()
  })

  test('an index of the layout before causes of failures is emptied, and filled again', async () => {
    const url = await server.database()
    const before = await openIndex({ kind: 'postgres', url })
    const blocks = new RandomBlocks({ seed: 3 }).chain(30)
    await before.append(blocks)
    await before.close()
    await query(url, 'DROP TABLE failed, skip_pointer')
    await query(url, 'ALTER TABLE token DROP COLUMN other_transfers')
    await query(url, 'ALTER TABLE block DROP COLUMN miner_credits')
    await query(url, 'UPDATE layout SET version = 3')
    const index = await openIndex({ kind: 'postgres', url })
    expect(await index.position()).toBeUndefined()
    await index.append(blocks)
    expect(await recount(index)).toEqual([])
    const [failed] = blocks.flatMap(block => block.failed.map(row => ({ ...row, blockNumber: block.number })))
    expect(await index.failedExecution(failed?.blockNumber ?? 0, failed?.transactionIndex ?? 0)).toEqual(failed)
    await index.close()
  })

  test('an index of the layout before transfers by standard is brought up to date as it is', async () => {
    const url = await server.database()
    const before = await openIndex({ kind: 'postgres', url })
    await before.append(
      new RandomBlocks({ seed: 5, tokens: 2 }).chain(20).map(block => ({ ...block, minerCredits: [] })),
    )
    await before.close()
    await query(url, 'ALTER TABLE token DROP COLUMN other_transfers')
    await query(url, 'ALTER TABLE block DROP COLUMN miner_credits')
    await query(url, 'DROP INDEX skip_pointer_list')
    await query(url, 'UPDATE layout SET version = 5')
    const index = await openIndex({ kind: 'postgres', url })
    expect((await index.position())?.number).toBe(19)
    expect(await recount(index)).toEqual([])
    await index.close()
  })

  test('a backfill leaves the indexes of lists out, and its end builds them, also in another process', async () => {
    const url = await server.database()
    const indexes = async (): Promise<readonly unknown[]> =>
      query(url, "SELECT indexname FROM pg_indexes WHERE indexname !~ '_0' ORDER BY 1")
    const index = await openIndex({ kind: 'postgres', url })
    const all = await indexes()
    await index.beginBackfill()
    expect((await indexes()).length).toBe(all.length - 11)
    const blocks = new RandomBlocks({ seed: 31 }).chain(30)
    await index.append(blocks.slice(0, 20))
    await index.close()
    const next = await openIndex({ kind: 'postgres', url })
    await next.append(blocks.slice(20))
    expect((await indexes()).length).toBe(all.length - 11)
    await next.endBackfill()
    expect(await indexes()).toEqual(all)
    // An index with blocks keeps what it has; one that goes back builds what it needs for that.
    await next.beginBackfill()
    expect(await indexes()).toEqual(all)
    await next.rollback(-1)
    await next.beginBackfill()
    await next.append(blocks)
    await next.rollback(10)
    expect(await indexes()).toEqual(all)
    expect(await recount(next)).toEqual([])
    await next.close()
  })

  test('a database that the server refuses is refused at once, with what to do', async () => {
    const url = await server.database()
    const name = new URL(url).pathname.slice(1)
    const refusal = (as: string): Promise<unknown> =>
      openIndex({ kind: 'postgres', url: as }).then(
        () => 'opened',
        (error: { detail?: unknown }) => error.detail,
      )
    const refused = (fix: string) => ({ code: 'DATABASE_REFUSED', fix: expect.stringContaining(fix) })
    expect(await refusal(url.replace(name, 'nosuch'))).toMatchObject(refused('createdb -O tandem nosuch'))
    expect(await refusal(url.replace('tandem', 'stranger'))).toMatchObject(refused('user and password'))
    await query(url, 'CREATE ROLE guest LOGIN')
    expect(await refusal(url.replace('tandem', 'guest'))).toMatchObject(refused(`${name} OWNER TO guest`))
    const taken = await server.database()
    await query(taken, 'CREATE TABLE block (name text)')
    expect(await refusal(taken)).toMatchObject(refused('of its own'))
    const still = await server.database()
    await query(still, `ALTER DATABASE ${new URL(still).pathname.slice(1)} SET default_transaction_read_only = on`)
    expect(await refusal(still)).toMatchObject(refused('--database-read'))
  })

  test('a replica answers reads, also without the server that it follows', async () => {
    const primary = await startPostgres()
    onTestFinished(() => primary.close())
    const url = await primary.database()
    const index = await openIndex({ kind: 'postgres', url })
    const replica = await primary.replica()
    onTestFinished(() => replica.close())
    const database = { kind: 'postgres', url, readUrl: replica.urlOf(url) } as const
    const [reader, contracts] = [await openIndexReader(database), await openContracts(database, '/nonexistent')]
    const blocks = new RandomBlocks({ seed: 4 }).chain(20)
    await index.append(blocks)
    const contract = storedContract()
    await contracts.writeContract(contract)
    const last = { number: 19, hash: blocks[19]?.hash }
    await expect.poll(() => reader.position(), { timeout: 60_000 }).toEqual(last)
    await expect.poll(() => contracts.contract(contract.address), { timeout: 60_000 }).toEqual(contract)
    await primary.kill()
    expect(await reader.position()).toEqual(last)
    expect((await reader.blocks({ limit: 100, offset: 0, after: null })).items).toHaveLength(20)
    expect(await contracts.contractCount()).toBe(1)
    await expect(index.position()).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    await expect(contracts.writeContract(contract)).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    await replica.kill()
    await expect(reader.position()).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    await Promise.all([reader.close(), contracts.close(), index.close()])
  })

  test('two writers of one index count nothing twice', async () => {
    const url = await server.database()
    const [one, two] = [await openIndex({ kind: 'postgres', url }), await openIndex({ kind: 'postgres', url })]
    const blocks = new RandomBlocks({ seed: 6 }).chain(30)
    for (let at = 0; at < blocks.length; at += 5) {
      const batch = blocks.slice(at, at + 5)
      const ended = await Promise.allSettled([one.append(batch), two.append(batch)])
      expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    }
    expect((await two.position())?.number).toBe(29)
    expect(await recount(one)).toEqual([])
    await one.close()
    await two.close()
  })

  test('a connection that hangs fails reads and writes in bounded time, and both go on afterwards', async () => {
    const gate = await startDatabaseGate(server.port)
    onTestFinished(() => gate.close())
    const url = await server.database()
    const database = { kind: 'postgres', url: gate.urlOf(url) } as const
    const index = new SqlIndex(await PostgresDatabase.open({ url: database.url, silenceMs: 300 }))
    const reader = await openIndexReader(database)
    const blocks = new RandomBlocks({ seed: 21 }).chain(20)
    await index.append(blocks.slice(0, 10))
    expect((await reader.position())?.number).toBe(9)
    gate.hang()
    const unreachable = { code: 'DATABASE_UNREACHABLE' }
    await Promise.all([
      expect(index.append(blocks.slice(10))).rejects.toMatchObject(unreachable),
      ...Array.from({ length: 20 }, () => expect(reader.position()).rejects.toMatchObject(unreachable)),
    ])
    gate.open()
    await expect.poll(() => reader.position().catch(() => undefined), { timeout: 60_000 }).toBeDefined()
    const position = await index.position()
    await index.append(blocks.slice((position?.number ?? -1) + 1))
    expect(await recount(index)).toEqual([])
    expect((await reader.position())?.number).toBe(19)
    await Promise.all([index.close(), reader.close()])
  })

  test('a write that the server is still at work on is waited for', async () => {
    const url = await server.database()
    const silenceMs = 100
    const index = new SqlIndex(await PostgresDatabase.open({ url, silenceMs }))
    const blocker = new pg.Client({ connectionString: url })
    await blocker.connect()
    await blocker.query('BEGIN')
    await blocker.query('LOCK TABLE tx')
    const ends: string[] = []
    const append = index.append(new RandomBlocks({ seed: 22 }).chain(5)).then(() => ends.push('appended'))
    // Longer than a silent connection without work is kept.
    await new Promise(resolve => setTimeout(resolve, 20 * silenceMs))
    ends.push('released')
    await blocker.query('COMMIT')
    await blocker.end()
    await append
    expect(ends).toEqual(['released', 'appended'])
    await index.close()
  })

  test('the tables of a new index outlive a server that is killed right after they were made', async () => {
    const index = await openOn(server)
    await server.kill()
    await server.start()
    expect(await index.position()).toBeUndefined()
    await index.close()
  })

  test('a server that ends in the middle of a batch leaves whole blocks, and the index goes on when it is back', async () => {
    const index = await openOn(server)
    const blocks = new RandomBlocks({ seed: 8, transactions: 60 }).chain(60)
    await index.append(blocks.slice(0, 20))
    const broken = index.append(blocks.slice(20, 40)).then(
      () => 'appended',
      (error: { code?: string }) => error.code,
    )
    await server.kill()
    expect(['appended', 'DATABASE_UNREACHABLE']).toContain(await broken)
    await expect(index.position()).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    await server.start()
    // Batches that were not on disk yet are lost with the server, each whole.
    const number = (await index.position())?.number ?? -1
    expect([-1, 19, 39]).toContain(number)
    await index.append(blocks.slice(number + 1))
    expect((await index.position())?.number).toBe(59)
    expect(await recount(index)).toEqual([])
    await index.close()
  })
})

test('texts with every character come back from a search as from SQLite', async () => {
  const index = new SqlIndex(new SqliteDatabase({ path: ':memory:' }))
  expect(await index.search('\0', 5)).toEqual([])
  await index.close()
})
