import { concatBytes, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { createApiServer } from '@tandem/explorer/api/api-server.ts'
import { pageOfShape } from '@tandem/explorer/api/json-schema.ts'
import { INTERNAL_ITEM_SHAPE } from '@tandem/explorer/api/shapes.ts'
import type { BlockRecord, TransferRecord } from '@tandem/explorer/store/records.ts'
import { SqlIndex } from '@tandem/explorer/store/sql/sql-index.ts'
import { SqliteDatabase } from '@tandem/explorer/store/sqlite/sqlite-database.ts'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test, vi } from 'vitest'
import { ACCOUNTS } from '../../support/chain.ts'
import { senderOn } from '../../support/explorer/token-chain.ts'
import { withApi } from './api-rig.ts'
import { RandomBlocks, tokenOf } from './random-blocks.ts'

vi.setConfig({ testTimeout: 120_000 })

const [, BOB, CAROL] = ACCOUNTS as readonly `0x${string}`[]
/** pass(address) of the contract Purse. */
const passData = (to: string): Uint8Array => concatBytes(hexToBytes('0x82c4b3b2'), hexToBytes(toWord(BigInt(to))))

interface ModuleRow {
  readonly blockNumber: string
  readonly value: string
  readonly type: string
  readonly to: string
  readonly contractAddress: string
}

test('txlist runs between two blocks and from either end', () =>
  withApi(async ({ get, chain, mine }) => {
    const carol = senderOn(chain, 2)
    const first = chain.chain.headBlock.header.number + 1
    for (let value = 1n; value <= 4n; value++) {
      await carol.submit({ to: BOB as `0x${string}`, value, gasLimit: 21_000n })
      await mine()
    }
    const list = async (query: string): Promise<readonly number[]> => {
      const { body } = await get(`/api?module=account&action=txlist&address=${CAROL}${query}`)
      return (body as { result: readonly ModuleRow[] }).result.map(({ blockNumber }) => Number(blockNumber) - first)
    }
    expect(await list('')).toEqual([0, 1, 2, 3])
    expect(await list('&sort=desc')).toEqual([3, 2, 1, 0])
    expect(await list('&sort=asc')).toEqual([0, 1, 2, 3])
    // The page is taken between the blocks, not cut from one of all blocks.
    expect(await list(`&sort=asc&startblock=${first + 1}&page=1&offset=2`)).toEqual([1, 2])
    expect(await list(`&endblock=${first + 1}&page=1&offset=1`)).toEqual([0])
    expect(await list(`&startblock=${first + 1}&endblock=${first + 2}&sort=desc`)).toEqual([2, 1])
    expect(await list(`&startblock=${first + 9}`)).toEqual([])
  }))

test('a page of transfers beyond what is looked at is refused with a way on, and is not an empty list', () =>
  withApi(async ({ context }) => {
    const index = new SqlIndex(new SqliteDatabase({ path: ':memory:' }))
    const [genesis, block] = new RandomBlocks({ seed: 71 }).chain(2) as [BlockRecord, BlockRecord]
    const [first] = new RandomBlocks({ seed: 71, transactions: 50 }).chain(30).flatMap(({ transfers }) => transfers)
    const { transactions } = new RandomBlocks({ seed: 72, transactions: 50 }).chain(2)[1] as BlockRecord
    const transfer = { ...(first as TransferRecord), standard: 'ERC-20', tokenId: null, transactionIndex: 0 } as const
    const transfers: TransferRecord[] = Array.from({ length: 5_200 }, (_, logIndex) => ({ ...transfer, logIndex }))
    // A contract may log transfers of two standards; of one, the list has no end that a page cannot reach.
    const single = tokenOf(77)
    transfers.push(...transfers.map(row => ({ ...row, token: single, logIndex: row.logIndex + 6_000 })))
    transfers[0] = { ...transfer, logIndex: 0, standard: 'ERC-721', tokenId: 1n }
    await index.append([genesis, { ...block, transactions, transfers, internal: [], failed: [] }])
    const app = createApiServer({ context: { ...context, index }, version: '1', logger: silentLogger })
    const list = async (query: string, token = transfer.token) => {
      const { body } = await app.inject(`/api?module=account&contractaddress=${token}&${query}`)
      return JSON.parse(body) as { status: string; result: unknown }
    }
    const refused = { status: '0', result: expect.stringContaining('narrow startblock') }
    expect((await list('action=tokentx&page=50&offset=100&sort=desc')).result).toHaveLength(100)
    // One of the first 5,000 is of the other standard, so that the page would be a short one.
    expect(await list('action=tokentx&page=50&offset=100')).toMatchObject(refused)
    // A page of 1,000 rows of 5,000 would be taken for the last one; a page that is not full is whole.
    const tooLong = { status: '0', result: expect.stringContaining('take offset=1000') }
    expect(await list('action=tokentx&page=1&offset=5000', single)).toMatchObject(tooLong)
    expect((await list('action=tokentx&page=2&offset=4999', single)).result).toHaveLength(201)
    expect((await list('action=tokentx&page=2&offset=1000', single)).result).toHaveLength(1_000)
    expect(await list('action=tokentx&page=52&offset=100')).toMatchObject(refused)
    expect(await list('action=tokennfttx')).toMatchObject(refused)
    expect(await list('action=tokennfttx&startblock=2')).toMatchObject({ status: '0', result: [] })
    expect((await list('action=tokentx&page=52&offset=100', single)).result).toHaveLength(100)
    expect(await list('action=tokentx&page=53&offset=100', single)).toMatchObject({ status: '0', result: [] })
    expect(await list('action=tokennfttx', single)).toMatchObject({ status: '0', result: [] })
    expect(await list('action=tokentx', tokenOf(78))).toMatchObject({ status: '0', result: [] })
    await app.close()
    await index.close()
  }))

test('internal transfers are listed by address, by transaction and by block, as REST has them', () =>
  withApi(async ({ get, chain, mine }) => {
    const carol = senderOn(chain, 2)
    const purse = await carol.deploy('Purse')
    const hash = await carol.submit({ to: purse, data: passData(BOB as string), value: 5n })
    await mine()
    const factory = await carol.deploy('Factory')
    await carol.submit({ to: factory, data: hexToBytes('0xc6dad082') })
    await mine()
    const list = async (query: string): Promise<readonly ModuleRow[]> =>
      ((await get(`/api?module=account&action=txlistinternal${query}`)).body as { result: readonly ModuleRow[] }).result
    const paid = { type: 'call', from: purse, to: BOB, value: '5', contractAddress: '', isError: '0', traceId: '0' }
    expect(await list(`&address=${BOB}`)).toMatchObject([{ ...paid, hash }])
    expect(await list(`&txhash=${hash}`)).toMatchObject([paid])
    const [created] = await list(`&address=${factory}`)
    expect(created).toMatchObject({ type: 'create', from: factory, to: '', value: '0' })
    const made = (await get('/api/internal-transfers')).body as { items: readonly object[] }
    const document = new Ajv2020({ strict: false })
    expect(document.validate(pageOfShape(INTERNAL_ITEM_SHAPE), made)).toBe(true)
    expect(await list(`&startblock=0&endblock=99999&sort=asc`)).toMatchObject([paid, created])
    const { body } = await get(`/api/transactions/${hash}`)
    expect(body).toMatchObject({ internalTransfers: [{ type: 'call', value: '5' }] })
    expect((await get(`/api/addresses/${BOB}/internal`)).body).toMatchObject({
      total: 1,
      items: [{ type: 'call', value: '5', transactionHash: hash, position: 0 }],
    })
    expect((await get('/api/internal-transfers?limit=1')).body).toMatchObject({ total: 2, items: [{ type: 'create' }] })
    const origin = await get(
      `/api?module=contract&action=getcontractcreation&contractaddresses=${created?.contractAddress}`,
    )
    expect(origin.body).toMatchObject({ result: [{ contractCreator: CAROL, contractFactory: factory }] })
    const { miner } = (await chain.blocks.block(chain.chain.headBlock.header.number))?.header ?? {}
    const mined = await get(`/api?module=account&action=getminedblocks&address=${miner}`)
    expect(mined.body).toMatchObject({ status: '1' })
  }))

test('parameters that would be left out are refused, and a submission is of the client that the port names', () =>
  withApi(async ({ get, context, mine }) => {
    const errorOf = async (query: string) => ((await get(`/api?${query}`)).body as { readonly result: unknown }).result
    const balance = `module=account&action=balance&address=${CAROL}`
    expect(await errorOf(`${balance}&tag=latest&chainid=${context.rules.chainId}`)).toMatch(/^\d+$/)
    expect(await errorOf(`${balance}&tag=0x0`)).toContain('tag=latest')
    expect(await errorOf(`${balance}&chainid=1`)).toContain('unsupported chainid')
    expect(await errorOf('module=account&action=txlist&startblock=1&startblock=2')).toContain(
      'startblock is given twice',
    )
    await mine()
    const clients: string[] = []
    const submit = async (_: unknown, client: string) => clients.push(client) && 'job'
    const verification = { verifier: { submit } } as unknown as typeof context.verification
    const api = createApiServer({ context: { ...context, verification }, version: '1', logger: silentLogger })
    const form = { module: 'contract', action: 'verifysourcecode', contractaddress: CAROL as string, sourceCode: '//' }
    const named = { ...form, contractname: 'a', compilerversion: 'v0.8.30', CLIENT: 'body' }
    await api.inject({
      ...{ method: 'POST', url: '/api?client=x&CLIENT=y', payload: new URLSearchParams(named).toString() },
      headers: { 'x-explorer-client': 'real', 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(clients).toEqual(['real'])
    await api.close()
  }))

test('an index that is being filled is told in the form of the module, and not taken for the whole', () =>
  withApi(async ({ context }) => {
    const source = { ...context.source, headNumber: async () => 1_000_000 }
    const far = { ...context, source, rules: { ...context.rules, isDevelopment: false } } as typeof context
    const api = createApiServer({ context: far, version: '1', logger: silentLogger })
    const action = (text: string) => api.inject({ url: `/api?${text}` })
    const refused = await action('module=block&action=getblocknobytime&timestamp=1')
    expect([refused.statusCode, refused.json()]).toEqual([
      503,
      { status: '0', message: 'NOTOK', result: 'the index is being filled; come again' },
    ])
    expect((await action('module=contract&action=checkverifystatus&guid=1')).statusCode).toBe(200)
    await api.close()
  }))
