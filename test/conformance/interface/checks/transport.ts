import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { post } from '../endpoint.ts'
import { EXPLORER_KEY, NOBODY, PAYER, type TestNetwork } from '../networks.ts'
import { interfaceRows } from '../rows.ts'
import { type Check, expectOutcome, onAll, type SectionChecks } from './check.ts'
import { refusedHandshake } from './networks.ts'

const request = (id: unknown, method = 'eth_chainId'): string =>
  JSON.stringify({ jsonrpc: '2.0', method, params: [], id })

const TRANSPORT_ROWS: SectionChecks = {
  'POST with Content-Type: application/json': async ({ networks }) => {
    for (const { node } of networks) {
      expect((await post(node.http, request(1))).status).toBe(200)
      expect((await post(node.http, request(1), 'application/json; charset=utf-8')).status).toBe(200)
    }
  },
  'POST without it': async ({ networks }) => {
    for (const { node } of networks) expect((await post(node.http, request(1), 'text/plain')).status).toBe(415)
  },
  request: async ({ networks }) => {
    for (const { node } of networks)
      for (const id of [7, 'seven'])
        expect(JSON.parse((await post(node.http, request(id))).text)).toMatchObject({ jsonrpc: '2.0', id })
  },
  success: at =>
    onAll(at, 'eth_chainId', async endpoint =>
      expect(Object.keys(await endpoint.ask('eth_chainId')).sort()).toEqual(['id', 'jsonrpc', 'result']),
    ),
  failure: at =>
    onAll(at, 'eth_getBalance', async endpoint => {
      const { error, ...rest } = await endpoint.ask('eth_getBalance')
      expect(Object.keys(rest).sort()).toEqual(['id', 'jsonrpc'])
      expect(error).toEqual({ code: -32602, message: 'missing value for required argument 1' })
    }),
  WebSocket: async ({ networks }) => {
    for (const { http, ws } of networks) {
      const same = await http.ask('eth_chainId')
      expect(await ws.ask('eth_chainId')).toMatchObject({ jsonrpc: '2.0', result: same.result })
    }
  },
  'WebSocket of testnet at /ws': async ({ of }) => {
    const { node } = of('testnet')
    expect(await refusedHandshake(`${node.http.replace('http', 'ws')}/ws`)).toEqual({ status: 301, location: '/ws/' })
    const plain = await fetch(`${node.http}/ws`, { redirect: 'manual' })
    expect([plain.status, plain.headers.get('location')]).toEqual([301, '/ws/'])
    const elsewhere = await fetch(`${of('mainnet').node.http}/ws`, { redirect: 'manual' })
    expect(elsewhere.status).toBe(426)
  },
  eth_subscribe: async ({ networks }) => {
    for (const { http, ws } of networks) {
      await expectOutcome(ws, 'eth_subscribe', ['newHeads'], /^result "0x/)
      await expectOutcome(http, 'eth_subscribe', ['newHeads'], '-32000 notifications not supported')
    }
  },
}

const SERVICE_ROWS: SectionChecks = {
  'JSON-RPC': at =>
    onAll(at, 'eth_chainId', async endpoint => expect((await endpoint.ask('eth_chainId')).jsonrpc).toBe('2.0')),
  'main chain': async ({ networks }) => {
    for (const { http, contract } of networks)
      await expectOutcome(http, 'eth_call', [{ to: contract }, 'latest'], /^result "0x0{62}2a"$/)
  },
  'proof chain': async ({ networks }) => {
    for (const { http } of networks) await expectOutcome(http, 'native_proofBlockNumber', [], /^result "0x/)
  },
  'native namespace': async ({ networks }) => {
    for (const { http } of networks) await expectOutcome(http, 'native_getCommitteeSize', [], 'result 1')
  },
  explorer: async ({ of }) => {
    for (const name of ['mainnet', 'devnet'] as const)
      expect((await fetch(`${of(name).node.http}/api/network`)).status).toBe(200)
    expect((await fetch(`${of('testnet').node.http}/api/network`)).status).toBe(404)
  },
  // The testnet has it with the option only: e2e/faucet.
  faucet: async ({ of }) => {
    expect((await fetch(`${of('testnet').node.http}/faucet`)).status).toBe(404)
    expect((await fetch(`${of('devnet').node.http}/faucet`)).status).toBe(200)
  },
}

const SHORT = expect.stringMatching(/^0x[0-9a-f]{4}…[0-9a-f]{4}$/)
const [NUMBER, TEXT, LIST] = [expect.any(Number), expect.any(String), expect.any(Array)]
const share = (part: number) => ({ share: part, total: NUMBER })
const period = { blocks: NUMBER, rewardPerCycle: NUMBER, totalMinted: NUMBER }
const listOf = (item: object) => ({ items: expect.arrayContaining([expect.objectContaining(item)]) })

/** Members of each answer of the explorer. */
const EXPLORER_MEMBERS: Readonly<Record<string, (network: TestNetwork) => object>> = {
  '/api/supply': () => ({
    ...{ totalSupply: NUMBER, totalMinted: NUMBER, mintedPercent: NUMBER, halvingBlock: NUMBER },
    breakdown: { miners: share(0.4), union: share(0.4), foundation: share(0.2) },
    ...{ preHalving: period, postHalving: period },
  }),
  '/api/network': () => ({
    ...{ blockNumber: NUMBER, gasPrice: '27500000000', gasPriceGwei: '27.5', tps: NUMBER },
    latestBlock: {
      ...{ number: NUMBER, miner: SHORT, proposer: SHORT, gasUsed: TEXT, gasLimit: '999999999999' },
      ...{ baseFeePerGas: TEXT, transactionCount: NUMBER },
    },
  }),
  '/api/unions': ({ coinbase }) => ({
    members: [
      {
        ...{ name: 'only', address: expect.stringMatching(new RegExp(`^${coinbase}$`, 'i')), totalStaked: NUMBER },
        ...{ totalReward: NUMBER, estimatedAnnualReward: NUMBER, halvingAwareAPR: NUMBER, startBlockNumber: 0 },
      },
    ],
    ...{ totalCnt: 1, halving: { block: NUMBER } },
  }),
  '/api/price': () => ({
    ...{ price: null, pair: 'TNDM/USDT', roundId: null, oracle: null, sources: 0, exchanges: [] },
  }),
  '/api/mining': () => ({
    ...{ topMiners: LIST, recentBlocks: LIST, networkStats: { totalMiners: 0, averageBlockTime: null } },
    ...{ distribution: LIST, hourlyProduction: LIST, blockTimeDist: LIST, dailyMiners: LIST, hashrateTrend: LIST },
    rewardEstimates: expect.anything(),
  }),
  '/api/blocks': () => listOf({ number: NUMBER, transactionCount: NUMBER }),
  '/api/blocks/{number}': () => ({ number: 1, transactionCount: 0, stateRoot: TEXT }),
  '/api/transactions': ({ legacy }) => listOf({ hash: legacy, value: '1', gasUsed: '21000' }),
  '/api/transactions/{hash}': ({ legacy, blockHash }) => ({ hash: legacy, blockHash, value: '1', status: 1 }),
  '/api/addresses/{address}': () => ({ balance: TEXT, transactionCount: NUMBER, isContract: false }),
  '/api/tokens': () => ({ items: [], total: 0 }),
  '/api/tokens/{address}': () => ({ error: expect.anything() }),
  '/api/top-accounts': () => listOf({ rank: 1, transactionCount: NUMBER }),
  '/api/stats': () => ({ days: expect.arrayContaining([expect.objectContaining({ gasUsed: TEXT, volume: NUMBER })]) }),
  '/api/search': () => ({ query: 'tok', results: [] }),
  '/api/contracts/{address}/verify': () => ({ isContract: true, verified: false }),
  '/api?module=contract': () => ({ status: '0', message: TEXT }),
}

/** Fills the place holders of a path with what the chain holds. */
const checkPath: Check = async ({ of }, { key }) => {
  const { node, legacy, contract } = of('mainnet')
  const filled = key
    .replace('{number}', '1')
    .replace('{hash}', legacy)
    .replace('{address}', /\/(tokens|contracts)\//.test(key) ? contract : PAYER)
    .replace('module=contract', `module=contract&action=getabi&address=${contract}`)
  const query = key === '/api/search' ? '?q=tok' : key === '/api/addresses' ? '?limit=1' : ''
  const response = await fetch(`${node.http}${filled}${query}`, { headers: { 'x-api-key': EXPLORER_KEY } })
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  const answer: unknown = await response.json()
  // Nothing here is a token.
  if (key.includes('/tokens/')) expect(response.status).toBe(404)
  else expect(response.status).toBe(200)
  const members = EXPLORER_MEMBERS[key]
  expect(members, `${key} has no check of its answer`).toBeDefined()
  expect(answer, key).toMatchObject(members?.(of('mainnet')) ?? {})
}

/** Finds the member that a row names in the answer of its path, and compares its type. */
const checkMember: Check = async ({ of }, { key, cells }) => {
  const [path = '', member = ''] = key.split(' ')
  const response = await fetch(`${of('mainnet').node.http}${path}`, { headers: { 'x-api-key': EXPLORER_KEY } })
  let value: unknown = await response.json()
  for (const name of member.split('.')) value = (value as Record<string, unknown>)[name]
  const kind = value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value
  expect((cells['type'] ?? '').split(' or '), `${key} is a ${kind}`).toContain(kind)
}

/** Finds the test that a rule names; a page with a decision is a link, which docs-links checks. */
const checkRule: Check = async (_, { key, cells }) => {
  const heldBy = cells['held by'] ?? ''
  if (/^\[[^\]]+\]\([^)]+\)$/.test(heldBy)) return
  const [, file, title] = /^`([\w/-]+)`: (.+)$/.exec(heldBy) ?? []
  const found = readFileSync(new URL(`../../../${file}.test.ts`, import.meta.url), 'utf8')
  // The tests of this page are generated from its sections.
  if (file === 'conformance/interface') expect(interfaceRows().map(({ section }) => section)).toContain(title)
  else expect(found, `${key}: ${file} has no test of this title`).toContain(title)
}

const LIMIT_ROWS: SectionChecks = {
  'price floor': at =>
    onAll(at, 'eth_sendRawTransaction', async endpoint => {
      const { sign } = at.of(endpoint.network)
      const price = 25_000_000_000n - 1n
      const raw = sign({ nonce: 800, maxFeePerGas: price, maxPriorityFeePerGas: price })
      await expectOutcome(
        endpoint,
        'eth_sendRawTransaction',
        [raw],
        /^-32000 transaction underpriced: .* 25000000000 wei$/,
      )
    }),
  'price ceiling': at =>
    onAll(at, 'native_upperBoundGasPrice', endpoint =>
      expectOutcome(endpoint, 'native_upperBoundGasPrice', [], `result "0x${(750_000_000_000).toString(16)}"`),
    ),
  'price at rest': at =>
    onAll(at, 'eth_gasPrice', async endpoint => {
      await expectOutcome(endpoint, 'eth_gasPrice', [], `result "0x${(27_500_000_000).toString(16)}"`)
      await expectOutcome(endpoint, 'eth_maxPriorityFeePerGas', [], 'result "0x0"')
    }),
  'block gas limit reported': at =>
    onAll(at, 'eth_getBlockByNumber', async endpoint => {
      const { result } = await endpoint.ask('eth_getBlockByNumber', ['latest', false])
      expect(result).toMatchObject({ gasLimit: `0x${(999_999_999_999).toString(16)}` })
    }),
  'consensus range': at =>
    onAll(at, 'native_getBlockWithConsensusInfoRange', async endpoint => {
      const range = 'native_getBlockWithConsensusInfoRange'
      await expectOutcome(endpoint, range, ['0x0', '0x64'], '-32602 block range too large: at most 100 blocks')
      await expectOutcome(endpoint, range, ['0xf00', '0xf63'], /^-32000 the header does not exist/)
    }),
  // Without the option; with it: e2e/faucet.
  faucet: async ({ of }) => expect((await fetch(`${of('testnet').node.http}/faucet`)).status).toBe(404),
  'gas of a transfer': at =>
    onAll(at, 'eth_estimateGas', endpoint =>
      expectOutcome(endpoint, 'eth_estimateGas', [{ to: NOBODY }], `result "0x${(21_000).toString(16)}"`),
    ),
  'explorer rate': async ({ of }) => {
    const url = `${of('mainnet').node.http}/api/supply`
    const statuses = async (headers: Record<string, string>): Promise<readonly number[]> => {
      const all: number[] = []
      for (let i = 0; i < 110; i++) {
        const response = await fetch(url, { headers })
        await response.arrayBuffer()
        all.push(response.status)
      }
      return all
    }
    expect(await statuses({})).toContain(429)
    expect(new Set(await statuses({ 'x-api-key': EXPLORER_KEY }))).toEqual(new Set([200]))
  },
  'per-address rate of nodes': async ({ of }) => {
    const { http } = of('mainnet')
    for (let i = 0; i < 100; i++) await expectOutcome(http, 'eth_chainId', [], /^result/)
  },
}

/** Checks that run elsewhere, with the compiler they need. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  'Limits: gas of an ERC-20 approve': 'test/conformance/gas-table.test.ts',
  'Limits: gas of an ERC-20 transfer': 'test/conformance/gas-table.test.ts',
}

const STATE_ROWS: SectionChecks = {
  pending: at =>
    onAll(at, 'eth_getTransactionByHash', async endpoint => {
      const { waiting } = at.of(endpoint.network)
      const { result } = await endpoint.ask('eth_getTransactionByHash', [waiting])
      expect(result).toMatchObject({ hash: waiting, blockHash: null, blockNumber: null, transactionIndex: null })
      await expectOutcome(endpoint, 'eth_getTransactionReceipt', [waiting], 'result null')
    }),
  included: at =>
    onAll(at, 'eth_getTransactionByHash', async endpoint => {
      const { creation, contract, legacy, blockHash } = at.of(endpoint.network)
      expect((await endpoint.ask('eth_getTransactionByHash', [legacy])).result).toMatchObject({ blockHash })
      expect((await endpoint.ask('eth_getTransactionReceipt', [creation])).result).toMatchObject({
        status: '0x1',
        contractAddress: contract,
      })
    }),
}

export const TRANSPORT_CHECKS: Readonly<Record<string, SectionChecks>> = {
  Service: SERVICE_ROWS,
  Transport: TRANSPORT_ROWS,
  'Transaction states': STATE_ROWS,
  'Explorer REST': { '*': checkPath },
  'Explorer objects': { '*': checkMember },
  Rules: { '*': checkRule },
  Limits: LIMIT_ROWS,
}
