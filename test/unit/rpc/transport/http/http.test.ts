import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../../../src/config/limits/clients.ts'
import { NETWORKS } from '../../../../../src/config/networks.ts'
import type { RpcServerOptions } from '../../../../../src/rpc/transport/server.ts'
import { exchange, request } from '../../../../support/raw-http.ts'
import { Rig } from '../../../../support/rpc/rig.ts'

const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
let rig: Rig
const start = async (options: Parameters<typeof Rig.start>[0] = {}): Promise<Rig> => {
  rig = await Rig.start(options)
  return rig
}
afterEach(() => rig.stop())

const ask = (method: string, path = '/', headers: Record<string, string> = {}, body?: string) =>
  fetch(rig.url + path, { method, headers, redirect: 'manual', ...(body !== undefined && { body }) })
const json = { 'content-type': 'application/json' }

test('answers calls, health checks and wrong requests with clear statuses', async () => {
  await start()
  const statuses: Record<string, number> = {}
  const note = async (name: string, answer: Promise<Response>) => {
    statuses[name] = (await answer).status
  }
  await note('POST', ask('POST', '/', json, CALL))
  await note('POST on the socket path', ask('POST', '/ws', json, CALL))
  await note(
    'POST with parameters of the type',
    ask('POST', '/', { 'content-type': 'application/json; charset=utf-8' }, CALL),
  )
  await note('POST application/json-rpc', ask('POST', '/', { 'content-type': 'application/json-rpc' }, CALL))
  await note('POST text', ask('POST', '/', { 'content-type': 'text/plain' }, CALL))
  await note('POST without a type', ask('POST', '/', {}, undefined))
  await note('GET', ask('GET'))
  await note('GET socket path', ask('GET', '/ws'))
  await note('GET other', ask('GET', '/x'))
  await note('PUT', ask('PUT', '/', json, CALL))
  await note('DELETE', ask('DELETE'))
  await note('POST other', ask('POST', '/x', json, CALL))
  await note('OPTIONS', ask('OPTIONS'))
  await note('health', ask('GET', '/health'))
  // Monitors ask so.
  await note('HEAD health', ask('HEAD', '/health'))
  await note('HEAD', ask('HEAD'))
  await note('HEAD other', ask('HEAD', '/x'))
  expect(statuses).toEqual({
    POST: 200,
    'POST on the socket path': 200,
    'POST with parameters of the type': 200,
    'POST application/json-rpc': 200,
    'POST text': 415,
    'POST without a type': 415,
    GET: 200,
    'GET socket path': 426,
    'GET other': 404,
    PUT: 405,
    DELETE: 405,
    'POST other': 404,
    OPTIONS: 204,
    health: 200,
    'HEAD health': 200,
    HEAD: 200,
    'HEAD other': 404,
  })
  expect(await (await ask('GET')).text()).toBe('')
  expect(await (await ask('POST', '/', { 'content-type': 'text/plain' }, CALL)).text()).toBe(
    'invalid content type, only application/json is supported\n',
  )
  const answer = await ask('POST', '/', json, CALL)
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  expect(await answer.json()).toEqual({ jsonrpc: '2.0', id: 1, result: '0x134fe69' })
})

test('bounds the body, declared or not', async () => {
  await start()
  const big = ' '.repeat(RPC_LIMITS.bodyBytes - CALL.length) + CALL
  expect((await ask('POST', '/', json, big)).status).toBe(200)
  const answer = await ask('POST', '/', json, ` ${big}`)
  expect(answer.status).toBe(413)
  expect(await answer.text()).toBe(`content length too large (${big.length + 1}>${RPC_LIMITS.bodyBytes})\n`)
  const stream = new Blob([big, big]).stream()
  const chunked = await fetch(rig.url, {
    method: 'POST',
    headers: json,
    body: stream,
    duplex: 'half',
  } as RequestInit).catch(() => undefined)
  expect(chunked === undefined || chunked.status === 413).toBe(true)
})

test('a request to the socket path that does not upgrade ends its connection', async () => {
  await start()
  const { headers, body } = await exchange(Number(new URL(rig.url).port), request('GET /ws'))
  expect(headers.get('connection')?.toLowerCase()).toBe('upgrade, close')
  expect(body).toMatch(/speaks WebSocket/)
})

test('redirects the path without a slash where the network says so', async () => {
  await start({ network: NETWORKS.testnet })
  const answer = await ask('GET', '/ws')
  expect(answer.status).toBe(301)
  expect(answer.headers.get('location')).toBe('/ws/')
  expect((await ask('GET', '/ws/')).status).toBe(426)
})

test('serves each network its namespaces', async () => {
  await start({ network: NETWORKS.testnet })
  expect(await rig.result('rpc_modules')).toEqual({ debug: '1.0', eth: '1.0', net: '1.0', rpc: '1.0', native: '1.0' })
  expect(await rig.failure('web3_clientVersion')).toBe(
    '-32601 the method web3_clientVersion does not exist/is not available',
  )
  expect(await rig.result('debug_getRawTransaction', [`0x${'00'.repeat(32)}`])).toBeNull()
})

test.each([
  'web3_clientVersion',
  'web3_sha3',
  'eth_protocolVersion',
  'debug_getRawBlock',
  'personal_sign',
  'admin_peers',
  'txpool_status',
  'miner_start',
  'eth_getWork',
])('has no %s on mainnet', async method => {
  await start()
  expect(await rig.failure(method)).toBe(`-32601 the method ${method} does not exist/is not available`)
})

test('says why it is not healthy', async () => {
  await start({ health: () => ({ healthy: false, reason: 'no block for 12 s' }) })
  const answer = await ask('GET', '/health')
  expect(answer.status).toBe(503)
  expect(await answer.json()).toEqual({ healthy: false, reason: 'no block for 12 s' })
})

test('lets only listed origins read answers', async () => {
  await start({ cors: ['https://app.example'] })
  const good = await ask('POST', '/', { ...json, origin: 'https://app.example' }, CALL)
  expect(good.headers.get('access-control-allow-origin')).toBe('https://app.example')
  const bad = await ask('POST', '/', { ...json, origin: 'https://evil.example' }, CALL)
  expect(bad.headers.get('access-control-allow-origin')).toBeNull()
  const preflight = await ask('OPTIONS', '/', {
    origin: 'https://app.example',
    'access-control-request-method': 'POST',
  })
  expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type, authorization, x-api-key')
})

test('localhost on the list is every page of this machine, and no other', async () => {
  await start({ cors: ['localhost'] })
  const allowed = async (origin: string) =>
    (await ask('POST', '/', { ...json, origin }, CALL)).headers.get('access-control-allow-origin')
  for (const origin of ['http://localhost:3000', 'https://localhost', 'http://127.0.0.1:5173', 'http://[::1]:80'])
    expect(await allowed(origin)).toBe(origin)
  for (const origin of ['https://app.example', 'http://localhost.evil.example', 'http://127.0.0.1.evil', 'null'])
    expect(await allowed(origin)).toBeNull()
})

/** fetch does not let a caller choose the Host header. */
const withHost = async (options: Partial<RpcServerOptions>, host: string) => {
  const { server } = await start(options)
  return exchange(server.port, request('POST /', { ...json, host }, CALL))
}

test.each([
  ['node.example', 200],
  ['node.example:8545', 200],
  ['NODE.example', 200],
  ['127.0.0.1:8545', 200],
  ['localhost:8545', 200],
  ['[::1]:8545', 200],
  ['evil.example', 403],
])('host %s: %i', async (host, status) => {
  const answer = await withHost({ hosts: ['node.example'] }, host)
  expect(answer.status).toBe(status)
  if (status === 403) expect(answer.body).toBe('invalid host specified\n')
})

test('limits the calls of an address, each call of a batch counting', async () => {
  await start({ clientRules: { rateLimit: { perSecond: 0.001, burst: 5 } } })
  expect((await ask('POST', '/', json, CALL)).status).toBe(200)
  const batch = `[${Array.from({ length: 10 }, () => CALL).join(',')}]`
  expect((await ask('POST', '/', json, batch)).status).toBe(200)
  const refused = await ask('POST', '/', json, CALL)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect((await ask('GET', '/health')).status).toBe(200)
})

test('ends though clients keep connections open', async () => {
  await start()
  const socket = connect(rig.server.port, '127.0.0.1')
  await new Promise(resolve => socket.once('connect', resolve))
  socket.on('error', () => {})
  await rig.stop()
  expect(socket.destroyed).toBe(false)
  socket.destroy()
})
