import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createApiServer } from '../../../src/explorer/api/api-server.ts'
import { openIndex } from '../../../src/explorer/store/open-index.ts'
import { SqliteIndex } from '../../../src/explorer/store/sqlite/sqlite-index.ts'
import type { Hex } from '../../../src/util/bytes.ts'
import { silentLogger } from '../../../src/util/logger.ts'
import { ACCOUNTS } from '../../support/chain.ts'
import { goodPaths, hostileRequests } from '../../support/explorer/api-requests.ts'
import { withApi } from '../../support/explorer/api-rig.ts'
import { indexStoreSuite } from '../../support/explorer/index-store-suite.ts'
import { POSTGRES_MISSING, type PostgresServer, startPostgres } from '../../support/explorer/postgres-server.ts'
import { RandomBlocks } from '../../support/explorer/random-blocks.ts'
import { indexerOf } from '../../support/explorer/token-chain.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

/** Each error has an id of its own. */
const withoutId = (body: string): string => body.replace(/"(requestId|errorId)":"[^"]*"/, '')

const openOn = async (server: PostgresServer) => openIndex({ kind: 'postgres', url: await server.database() })

describe.skipIf(POSTGRES_MISSING)(`PostgreSQL${POSTGRES_MISSING ? ` (${POSTGRES_MISSING})` : ''}`, () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  indexStoreSuite('PostgreSQL index', () => openOn(server))

  test('both back ends give the same bytes, also for what nobody should ask', () =>
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
    expect(await one.recount()).toEqual([])
    await one.close()
    await two.close()
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
    expect(await index.recount()).toEqual([])
    await index.close()
  })
})

test('texts with every character come back from a search as from SQLite', async () => {
  const index = new SqliteIndex({ path: ':memory:' })
  expect(await index.search('\0', 5)).toEqual([])
  await index.close()
})
