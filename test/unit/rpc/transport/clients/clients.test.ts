import { createHmac } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { ClientRules } from '../../../../../src/rpc/transport/clients/clients.ts'
import { exchange, request } from '../../../../support/raw-http.ts'
import { Rig } from '../../../../support/rpc/rig.ts'

const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
let rig: Rig
const start = async (clientRules: ClientRules, more: Parameters<typeof Rig.start>[0] = {}) => {
  rig = await Rig.start({ clientRules, ...more })
}
afterEach(() => rig.stop())

const post = async (headers: Record<string, string> = {}, body = CALL): Promise<number> => {
  const { status } = await fetch(rig.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  return status
}

/** Statuses of one call after the other. */
const series = async (count: number, headers?: Record<string, string>, body?: string): Promise<readonly number[]> => {
  const statuses: number[] = []
  for (let index = 0; index < count; index++) statuses.push(await post(headers, body))
  return statuses
}

/** Resolves with 101, or the status of the refusal. */
const upgrade = (path: string, headers: Record<string, string> = {}): Promise<number> =>
  new Promise(resolve => {
    const socket = new WebSocket(`${rig.url.replace('http', 'ws')}${path}`, { headers })
    socket.once('open', () => resolve(101))
    socket.once('unexpected-response', (_, response) => resolve(response.statusCode ?? 0))
    socket.on('error', () => {})
  })

/** Calls are admitted while any part of a token is left: three of them. */
const RATE = { perSecond: 0.001, burst: 2.5 }
const from = (address: string) => ({ 'x-forwarded-for': address })

describe('behind a proxy', () => {
  test('each client has its own limit', async () => {
    await start({ rateLimit: RATE, trustProxy: { proxies: 1, header: 'x-forwarded-for' } })
    expect(await series(4, from('203.0.113.1'))).toEqual([200, 200, 200, 429])
    expect(await series(4, from('203.0.113.2'))).toEqual([200, 200, 200, 429])
    expect(await post(from('203.0.113.3, 203.0.113.1')), 'what it claims itself changes nothing').toBe(429)
  })

  test('addresses of one /64, and spellings of one address, share a limit', async () => {
    await start({ rateLimit: RATE, trustProxy: { proxies: 1, header: 'x-forwarded-for' } })
    const statusesOf = async (addresses: readonly string[]) => {
      const statuses = []
      for (const address of addresses) statuses.push(await post(from(address)))
      return statuses
    }
    const ipv6 = ['2001:db8:7:7::1', '2001:db8:7:7::2', '2001:0DB8:7:7:0:0:0:3', '2001:db8:7:7::4']
    expect(await statusesOf(ipv6)).toEqual([200, 200, 200, 429])
    const ipv4 = ['203.0.113.9', '::ffff:203.0.113.9', '::ffff:cb00:7109', '0:0:0:0:0:FFFF:203.0.113.9']
    expect(await statusesOf(ipv4)).toEqual([200, 200, 200, 429])
    expect(await post(from('2001:db8:7:8::1'))).toBe(200)
  })

  test('other routes of the port, such as the faucet, know the client of reads and posts', async () => {
    await start(
      { trustProxy: { proxies: 1, header: 'x-forwarded-for' } },
      { routes: app => void app.route({ method: ['GET', 'POST'], url: '/who', handler: async ({ ip }) => ip }) },
    )
    for (const method of ['GET', 'POST'])
      expect(await (await fetch(`${rig.url}/who`, { method, headers: from('203.0.113.9') })).text()).toBe('203.0.113.9')
  })

  test('a header of a hop that is not trusted changes nothing', async () => {
    await start({ rateLimit: RATE, trustProxy: { proxies: ['10.0.0.0/8'], header: 'x-forwarded-for' } })
    const statuses = []
    for (let index = 0; index < 4; index++) statuses.push(await post(from(`203.0.113.${index}`)))
    expect(statuses).toEqual([200, 200, 200, 429])
  })

  test('so it is without --trust-proxy', async () => {
    await start({ rateLimit: RATE })
    const statuses = []
    for (let index = 0; index < 4; index++)
      statuses.push(await post({ ...from(`203.0.113.${index}`), forwarded: `for=203.0.113.${index}` }))
    expect(statuses).toEqual([200, 200, 200, 429])
  })

  test('WebSockets are counted for each client', async () => {
    await start({ trustProxy: { proxies: 1, header: 'x-forwarded-for' } }, { socketsPerClient: 2 })
    const one = [await upgrade('/ws', from('203.0.113.1')), await upgrade('/ws', from('203.0.113.1'))]
    expect([...one, await upgrade('/ws', from('203.0.113.1'))]).toEqual([101, 101, 503])
    expect(await upgrade('/ws', from('203.0.113.2'))).toBe(101)
  })
})

test('costly methods take more of the limit', async () => {
  await start({ rateLimit: { perSecond: 0.001, burst: 30 } })
  const logs = '{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{}]}'
  expect(await series(3, {}, logs), 'twenty each').toEqual([200, 200, 429])
})

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const token = (payload: object, secret: Uint8Array, header: object = { alg: 'HS256', typ: 'JWT' }): string => {
  const text = `${base64(header)}.${base64(payload)}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

describe('tokens', () => {
  const secret = new Uint8Array(32).fill(7)
  const now = () => Math.floor(Date.now() / 1_000)
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` })

  test("calls and WebSockets need one of geth's scheme; health does not", async () => {
    await start({ jwtSecret: secret })
    expect(await post()).toBe(401)
    expect(await post(bearer(token({ iat: now() }, secret)))).toBe(200)
    expect(await upgrade('/ws')).toBe(401)
    expect(await upgrade('/ws', bearer(token({ iat: now() }, secret)))).toBe(101)
    expect((await fetch(`${rig.url}/health`)).status).toBe(200)
  })

  test.each<[string, () => string]>([
    ['of another secret', () => token({ iat: now() }, new Uint8Array(32).fill(8))],
    ['that is old', () => token({ iat: now() - 600 }, secret)],
    ['of the future', () => token({ iat: now() + 600 }, secret)],
    ['without a time', () => token({}, secret)],
    ['that expired', () => token({ iat: now(), exp: now() - 600 }, secret)],
    ['without a signature', () => `${base64({ alg: 'none' })}.${base64({ iat: now() })}.`],
    ['that says another algorithm', () => token({ iat: now() }, secret, { alg: 'HS512' })],
    ['that is none', () => 'x.y.z'],
  ])('a token %s is refused', async (_, make) => {
    await start({ jwtSecret: secret })
    expect(await post(bearer(make()))).toBe(401)
  })
})

test('keys have limits of their own, wherever their calls come from; a wrong key is refused', async () => {
  await start({
    rateLimit: RATE,
    apiKeys: [{ name: 'shop', key: 'k'.repeat(32), perSecond: 1_000 }],
  })
  expect(await series(4)).toEqual([200, 200, 200, 429])
  const key = { 'x-api-key': 'k'.repeat(32) }
  expect(new Set(await series(20, key))).toEqual(new Set([200]))
  expect(await post({ 'x-api-key': 'k'.repeat(31) })).toBe(401)
  expect(await upgrade(`/ws?apikey=${'k'.repeat(32)}`)).toBe(101)
  expect(await upgrade('/ws?apikey=wrong')).toBe(401)
})

test('answers are compressed for clients that accept it, above a packet', async () => {
  await start({}, { compression: true })
  const answer = async (headers: Record<string, string>, body = CALL) =>
    exchange(rig.server.port, request('POST /', { 'content-type': 'application/json', ...headers }, body))
  const modules = `[${Array.from({ length: 40 }, () => CALL).join(',')}]`
  const unknown = `{"jsonrpc":"2.0","id":"${'x'.repeat(2_000)}","method":"eth_chainId"}`
  const packed = await answer({ 'accept-encoding': 'gzip' }, unknown)
  expect(packed.headers.get('content-encoding')).toBe('gzip')
  expect(packed.headers.get('vary')).toBe('accept-encoding')
  expect(gunzipSync(Buffer.from(packed.body, 'latin1')).toString()).toBe((await answer({}, unknown)).body)
  expect((await answer({ 'accept-encoding': 'gzip' })).headers.get('content-encoding')).toBeUndefined()
  expect(JSON.parse((await answer({}, modules)).body)).toHaveLength(40)
})
