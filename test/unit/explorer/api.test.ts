import { Validator } from '@seriousme/openapi-schema-validator'
import type { Hex } from '@tandem/base/bytes.ts'
import { API_ROUTES } from '@tandem/explorer/api/api-routes.ts'
import { ERROR_SHAPE, openApiDocument, openApiPath } from '@tandem/explorer/api/openapi.ts'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test, vi } from 'vitest'
import { checksumAddress } from '../../../src/crypto/checksum.ts'
import { ACCOUNTS } from '../../support/chain.ts'
import { ATTACK_TIMEOUT, goodPaths, hostileRequests } from './api-requests.ts'
import { withApi } from './api-rig.ts'

vi.setConfig({ testTimeout: ATTACK_TIMEOUT })

const [ALICE, BOB] = ACCOUNTS as readonly [Hex, Hex]
const NOBODY = `0x${'12'.repeat(20)}`

const NEEDS_CONTRACT = new Set(
  API_ROUTES.filter(({ method, path }) => method === 'POST' || /:job|v2|source$/.test(path)),
)

describe('the document', () => {
  test('is OpenAPI 3.1 to a validator of others', async () => {
    const result = await new Validator().validate(openApiDocument(API_ROUTES, '1') as Record<string, unknown>)
    expect(result).toEqual({ valid: true })
  })

  test('names every route, and every operation by its own name', () => {
    const { paths } = openApiDocument(API_ROUTES, '1') as {
      paths: Record<string, Record<string, { operationId: string }>>
    }
    expect(new Set(Object.keys(paths))).toEqual(new Set(API_ROUTES.map(({ path }) => openApiPath(path))))
    const operations = Object.values(paths).flatMap(methods => Object.values(methods))
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(API_ROUTES.length)
  })

  test('describes what every endpoint answers', () =>
    withApi(async rig => {
      const ajv = new Ajv2020({ allErrors: true, strict: false })
      const good = goodPaths(rig)
      // What needs a verified contract is in verification-api.test.ts.
      for (const { path, result } of API_ROUTES.filter(route => !NEEDS_CONTRACT.has(route))) {
        const validate = ajv.compile(result)
        expect(good[path]?.length, path).toBeGreaterThan(0)
        for (const url of good[path] ?? []) {
          const { status, body } = await rig.get(url)
          expect(status, url).toBe(200)
          validate(body)
          expect(validate.errors, url).toBeNull()
        }
      }
      const error = ajv.compile(ERROR_SHAPE)
      for (const url of ['/api/blocks/99', '/api/nothing', '/api/blocks/x', '/api/transactions?from=bob']) {
        expect(error((await rig.get(url)).body), url).toBe(true)
      }
      expect(((await rig.get('/api/openapi.json')).body as { openapi: string }).openapi).toBe('3.1.0')
    }))
})

describe('answers', () => {
  test('the rate of transactions since block 1: the time of genesis says nothing of the chain', () =>
    withApi(async ({ get, chain, hashes }) => {
      const head = chain.chain.headBlock.header
      const first = (await get('/api/blocks/1')).body as { timestamp: number }
      const { tps } = (await get('/api/network')).body as { tps: number }
      expect(tps).toBeCloseTo(hashes.slice(1).length / (head.timestamp - first.timestamp), 2)
    }))

  test('addresses of the head, abbreviated and with every digit', () =>
    withApi(async ({ get, chain }) => {
      const { header, extra } = chain.chain.headBlock
      expect((await get('/api/network')).body).toMatchObject({
        latestBlock: {
          ...{ miner: '0x0000…0000', proposer: `${extra.proposer.slice(0, 6)}…${extra.proposer.slice(-4)}` },
          ...{ minerAddress: checksumAddress(header.miner), proposerAddress: checksumAddress(extra.proposer) },
        },
      })
    }))

  test('a block, its transactions and its neighbours', () =>
    withApi(async ({ get, chain, hashes }) => {
      const head = chain.chain.headBlock
      expect((await get('/api/blocks/2')).body).toMatchObject({
        number: 2,
        hash: head.hash,
        stateRoot: head.header.stateRoot,
        transactionCount: 3,
        transactions: hashes.slice(1),
        previous: 1,
        next: null,
        finalized: true,
        difficulty: '1',
      })
      expect((await get('/api/blocks')).body).toMatchObject({ total: 3, limit: 25, offset: 0, nextCursor: null })
    }))

  test('a token transfer with its logs', () =>
    withApi(async ({ get, hashes, coin }) => {
      const token = { address: checksumAddress(coin), name: 'Green Bean', symbol: 'BEAN', decimals: 6 }
      expect((await get(`/api/transactions/${hashes[1]}`)).body).toMatchObject({
        from: checksumAddress(ALICE),
        to: checksumAddress(coin),
        txType: 'token',
        method: 'transfer',
        methodId: '0xa9059cbb',
        status: 1,
        confirmations: 1,
        logs: [{ address: checksumAddress(coin), topics: { length: 3 } }],
        tokenTransfers: [{ token, from: checksumAddress(ALICE), to: checksumAddress(BOB), amount: '250' }],
      })
    }))

  test('an address with its balance and counts, and zeros for an unknown one', () =>
    withApi(async ({ get, coin, chain }) => {
      const { balance } = chain.world.head.account(BOB) as { balance: bigint }
      expect((await get(`/api/addresses/${BOB}`)).body).toMatchObject({
        balance: balance.toString(),
        label: 'Bob Exchange',
        transactionCount: 1,
        tokenTransferCount: 1,
        tokenBalances: [{ token: { symbol: 'BEAN' }, balance: '250' }],
        firstSeenBlock: 2,
      })
      expect((await get(`/api/addresses/${coin}`)).body).toMatchObject({
        isContract: true,
        creator: checksumAddress(ALICE),
      })
      const nobody = (await get(`/api/addresses/${NOBODY}`)).body
      expect(nobody).toMatchObject({ balance: '0', transactionCount: 0, firstSeenBlock: null, label: null, roles: [] })
    }))

  test('holders with their parts of the supply', () =>
    withApi(async ({ get, coin }) => {
      const { body } = await get(`/api/tokens/${coin}`)
      expect(body).toMatchObject({
        totalSupply: '1000000000',
        holderCount: 2,
        holders: {
          total: 2,
          items: [
            { rank: 1, address: checksumAddress(ALICE), percent: 100 },
            { rank: 2, balance: '250' },
          ],
        },
      })
    }))

  test('answers change with the head, and an unchanged one is a 304 for its tag', () =>
    withApi(async ({ app, get, mine }) => {
      const first = await get('/api/blocks/1')
      expect(first.headers['x-indexed-block']).toBe('2')
      const again = { url: '/api/blocks/1', headers: { 'if-none-match': String(first.headers['etag']) } }
      const unchanged = await app.inject(again)
      expect([unchanged.statusCode, unchanged.body]).toEqual([304, ''])
      expect(first.headers['cache-control']).toContain('max-age=1,')
      for (let i = 0; i < 10; i++) await mine()
      expect((await get('/api/blocks/1')).headers['cache-control']).toContain('immutable')
      expect((await get('/api/blocks/12')).headers['cache-control']).toContain('max-age=1,')
    }))
})

describe('refusals', () => {
  const REFUSALS = [
    ['/api/blocks/999', 404, 'NOT_FOUND', null],
    [`/api/transactions/0x${'ab'.repeat(32)}`, 404, 'NOT_FOUND', null],
    [`/api/tokens/${NOBODY}`, 404, 'NOT_FOUND', null],
    ['/api/x/y', 404, 'NOT_FOUND', null],
    ['/api/blocks/-1', 400, 'INVALID_PARAMETER', 'number'],
    ['/api/blocks/0x1', 400, 'INVALID_PARAMETER', 'number'],
    ['/api/blocks?limit=0', 400, 'INVALID_PARAMETER', 'limit'],
    ['/api/blocks?limit=101', 400, 'INVALID_PARAMETER', 'limit'],
    ['/api/blocks?offset=100001', 400, 'INVALID_PARAMETER', 'offset'],
    ['/api/blocks?offset=1e309', 400, 'INVALID_PARAMETER', 'offset'],
    ['/api/blocks?cursor=AAAA', 400, 'INVALID_PARAMETER', 'cursor'],
    ['/api/transactions?from=12', 400, 'INVALID_PARAMETER', 'from'],
    ['/api/transactions?txType=bribe', 400, 'INVALID_PARAMETER', 'txType'],
    ['/api/transactions/0x12', 400, 'INVALID_PARAMETER', 'hash'],
    ['/api/addresses/0x12', 400, 'INVALID_PARAMETER', 'address'],
    ['/api/search', 400, 'INVALID_PARAMETER', 'q'],
    [`/api/search?q=${'x'.repeat(101)}`, 400, 'INVALID_PARAMETER', 'q'],
    ['/api/stats?days=366', 400, 'INVALID_PARAMETER', 'days'],
  ] as const

  test('each names its reason and its parameter', () =>
    withApi(async ({ get }) => {
      for (const [url, status, code, field] of REFUSALS) {
        const answer = await get(url)
        expect(answer.status, url).toBe(status)
        expect(answer.body, url).toMatchObject({ error: { code, field } })
      }
    }))

  test('another method is refused with the list of allowed ones', () =>
    withApi(async ({ app }) => {
      const response = await app.inject({ method: 'DELETE', url: '/api/blocks' })
      expect([response.statusCode, response.headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS'])
      expect(response.json()).toMatchObject({ error: { code: 'METHOD_NOT_ALLOWED' } })
    }))

  test('nothing that is asked makes the explorer fail', () =>
    withApi(async ({ app, coin }) => {
      const seed = Number(process.env['SEED'] ?? 20_261_122)
      for (const { method, url } of hostileRequests(seed, coin)) {
        const response = await app.inject({ method, url })
        expect(response.statusCode, `SEED=${seed} ${url} ${response.body}`).toBeLessThan(500)
      }
    }))
})
