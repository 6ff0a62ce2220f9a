import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { expect } from 'vitest'
import WebSocket from 'ws'
import { NAMESPACES } from '../../../../src/config/networks.ts'
import { namespacesOf, post } from '../endpoint.ts'
import type { TestNetwork } from '../networks.ts'
import type { InterfaceRow } from '../rows.ts'
import { type Check, expectOutcome, notServed, type SectionChecks } from './check.ts'

type Cell = (cell: string, network: TestNetwork) => Promise<void>

const plain = (cell: string): string => cell.replaceAll('`', '')
const numberIn = (cell: string): number => Number(/[\d,]+/.exec(cell)?.[0].replaceAll(',', ''))

/** Checks the cells of mainnet and testnet on their nodes. */
const onPublic =
  (check: Cell): Check =>
  async ({ of }, { cells }) => {
    for (const name of ['mainnet', 'testnet'] as const) await check(cells[name] ?? '', of(name))
  }

const ask = async ({ http }: TestNetwork, method: string): Promise<unknown> => (await http.ask(method)).result

const param = async (network: TestNetwork, name: string): Promise<unknown> =>
  ((await ask(network, 'native_getParams')) as Record<string, unknown>)[name]

/** Answer to a WebSocket handshake that is not accepted. */
export const refusedHandshake = async (url: string): Promise<{ status?: number; location?: string }> => {
  const socket = new WebSocket(url, { followRedirects: false })
  socket.on('error', () => socket.terminate())
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
  response.resume()
  socket.terminate()
  return {
    ...(response.statusCode !== undefined && { status: response.statusCode }),
    ...(response.headers.location !== undefined && { location: response.headers.location }),
  }
}

const statusOf = async ({ node }: TestNetwork, path: string): Promise<number> => {
  const response = await fetch(`${node.http}${path}`, { redirect: 'manual' })
  await response.arrayBuffer()
  return response.status
}

const NETWORK_ROWS: SectionChecks = {
  'chain id': onPublic(async (cell, network) => {
    const [, decimal, hex] = /^(\d+) \((0x[0-9a-f]+)\)$/.exec(cell) ?? []
    expect(await ask(network, 'eth_chainId')).toBe(hex)
    expect(Number(hex)).toBe(Number(decimal))
    expect((await network.ws.ask('eth_chainId')).result).toBe(hex)
  }),
  net_version: onPublic(async (cell, network) => {
    for (const endpoint of [network.http, network.ws])
      await expectOutcome(endpoint, 'net_version', [], `result ${cell}`)
  }),
  symbol: onPublic(async (cell, network) => expect(await param(network, 'symbol')).toBe(cell)),
  decimals: onPublic(async (cell, network) => expect(await param(network, 'decimals')).toBe(Number(cell))),
  'block time': onPublic(async (cell, network) =>
    expect(await ask(network, 'native_getChainConfig')).toMatchObject({ blockTime: numberIn(cell) }),
  ),
  'HTTP path': onPublic(async (cell, network) => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'
    expect((await post(`${network.node.http}${plain(cell)}`, body)).status).toBe(200)
    expect((await post(`${network.node.http}/elsewhere`, body)).status).toBe(404)
  }),
  'WebSocket path': onPublic(async (cell, { node }) => {
    const [path = ''] = plain(cell).split(',')
    expect(new URL(node.ws).pathname).toBe(path)
    const base = node.http.replace('http', 'ws')
    expect(await refusedHandshake(`${base}/elsewhere`)).toMatchObject({ status: 404 })
    if (cell.includes('301')) expect(await refusedHandshake(`${base}/ws`)).toEqual({ status: 301, location: '/ws/' })
  }),
  'fork nativeHashForkBlock': onPublic(async (cell, network) =>
    expect(await ask(network, 'native_getChainConfig')).toMatchObject({ nativeHashForkBlock: numberIn(cell) }),
  ),
  explorer: async ({ of }) => {
    expect(await statusOf(of('mainnet'), '/api/supply')).toBe(200)
    expect(await statusOf(of('testnet'), '/api/supply')).toBe(404)
  },
  // The testnet's with --faucet: e2e/faucet.
  faucet: async ({ of }) => {
    expect(await statusOf(of('mainnet'), '/faucet')).toBe(404)
    expect(await statusOf(of('testnet'), '/faucet')).toBe(404)
    expect(await statusOf(of('devnet'), '/faucet')).toBe(200)
  },
}

/** Namespaces of an endpoint, as rpc_modules reports them, version 1.0 each. */
const checkNamespaces: Check = async ({ endpoints, networks }, { key }) => {
  const operators = networks.flatMap(({ operator }) => operator ?? [])
  const own = [...endpoints, ...operators].filter(({ name }) => name === key)
  expect(own.length).toBeGreaterThan(0)
  const named = namespacesOf(key)
  for (const endpoint of own) {
    const { result } = await endpoint.ask('rpc_modules')
    const served = Object.keys(result as object)
    expect(new Set(Object.values(result as object))).toEqual(new Set(['1.0']))
    if (named !== 'all') expect([...served].sort()).toEqual([...named].sort())
    // A development chain has helpers, a network of several nodes peers.
    else for (const name of ['debug', 'txpool', 'web3', 'personal', 'native']) expect(served).toContain(name)
    for (const name of served) expect(NAMESPACES).toContain(name)
  }
}

const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  'debug_*': ['debug_getRawHeader', 'debug_traceTransaction'],
  'personal_*': ['personal_sign', 'personal_listAccounts', 'personal_unlockAccount'],
  'admin_*': ['admin_nodeInfo', 'admin_peers', 'admin_addPeer'],
  'txpool_*': ['txpool_status', 'txpool_content'],
  'miner_*': ['miner_start', 'miner_setEtherbase'],
  'native_*': ['native_blockNumber', 'native_getCouncil'],
}

/** `mainnet, testnet HTTP`: everything of mainnet, and one transport of testnet. */
const isNamed = (where: string, name: string): boolean =>
  where === 'everywhere' || where.split(', ').some(part => name.startsWith(part))

const checkUnserved: Check = async ({ endpoints }, { key, cells }: InterfaceRow) => {
  const named = endpoints.filter(({ name }) => isNamed(cells['where'] ?? '', name))
  expect(named.length).toBeGreaterThan(0)
  for (const method of EXAMPLES[key] ?? [key])
    for (const endpoint of named)
      for (const params of [[], ['latest']]) await expectOutcome(endpoint, method, params, notServed(method))
  const instead = plain(cells['instead'] ?? '')
  if (instead === '') return
  for (const endpoint of named) if (endpoint.serves(instead)) await expectOutcome(endpoint, instead, [], /^result "/)
}

const ENDPOINTS = ['mainnet', 'testnet', 'devnet'].flatMap(name => [`${name} HTTP`, `${name} WebSocket`])

export const NETWORK_CHECKS: Readonly<Record<string, SectionChecks>> = {
  Networks: NETWORK_ROWS,
  Namespaces: {
    ...Object.fromEntries([...ENDPOINTS, 'operator port'].map(name => [name, checkNamespaces])),
    '*': checkUnserved,
  },
}
