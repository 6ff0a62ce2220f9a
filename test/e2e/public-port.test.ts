import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import type { Hex } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addressFromPrivateKey } from '../../src/crypto/signature.ts'
import { writeCertificate } from '../support/certificate.ts'
import { eventually, freePort, type NodeProcess, spawnNode } from '../support/node-process.ts'
import { PROXIES } from '../support/proxies.ts'
import { Socket } from '../support/rpc/socket.ts'

/* The public port behind a real nginx and a real Caddy with the configurations of docker/, and with TLS of its own. */

const KEY = 'a5'.repeat(32)
const HELD = addressFromPrivateKey(Buffer.from(KEY, 'hex'))
const OTHER: Hex = `0x${'12'.repeat(20)}`

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tandem-public-'))
  const stake = (35_000_000n * 10n ** 18n).toString()
  writeFileSync(join(dir, 'key'), KEY, { mode: 0o600 })
  writeFileSync(
    join(dir, 'genesis.json'),
    JSON.stringify({
      ...{ format: 'tandem/1', network: 'testnet', timestamp: 1_735_689_600, foundation: OTHER },
      council: [{ name: 'only', validator: OTHER, reward: OTHER, stake }],
      alloc: { [HELD]: { balance: stake } },
    }),
  )
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const start = (name: string, more: readonly string[]): NodeProcess =>
  spawnNode([
    ...['start', '--network', 'testnet', '--genesis', join(dir, 'genesis.json'), '--unlock', join(dir, 'key')],
    ...['--datadir', join(dir, name), '--port', '0', ...more],
    ...(more.includes('--operator-port') ? [] : ['--operator-port', '0']),
  ])

interface Asked {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly fingerprint: string | undefined
}

const bodyOf = (method: string, params: readonly unknown[]) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

/** Calls from an address of the loopback. */
const ask = (
  url: string,
  [method, ...params]: readonly [string, ...unknown[]],
  { from = '127.0.0.1', headers = {} }: { readonly from?: string; readonly headers?: Record<string, string> } = {},
): Promise<Asked> =>
  new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      localAddress: from,
      headers: { 'content-type': 'application/json', ...headers },
      agent: false,
      rejectUnauthorized: false,
    } as const
    const sent = (url.startsWith('https') ? httpsRequest : httpRequest)(url, options, response => {
      const fingerprint = (response.socket as TLSSocket).getPeerCertificate?.().fingerprint256
      let text = ''
      response.setEncoding('utf8').on('data', chunk => {
        text += String(chunk)
      })
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text, headers: response.headers, fingerprint }),
      )
    })
    sent.on('error', reject).end(bodyOf(method, params))
  })

/** Text of the node's page. */
const pageOf = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { headers: { accept: 'text/html' }, agent: false, rejectUnauthorized: false } as const
    httpsRequest(url, options, response => {
      const parts: Buffer[] = []
      response.on('data', part => parts.push(part)).on('end', () => resolve(Buffer.concat(parts).toString()))
    })
      .on('error', reject)
      .end()
  })

/** Weighs more than the limit of a second: the next calls of the client are refused for some time. */
const COSTLY = ['eth_getLogs', { fromBlock: '0x0', toBlock: '0x0' }] as const
const CHEAP = ['eth_chainId'] as const
const SIGNINGS: readonly (readonly [string, ...unknown[]])[] = [
  ['eth_sign', HELD, '0x1234'],
  ['eth_signTransaction', { from: HELD, to: OTHER, gas: '0x5208', nonce: '0x0', gasPrice: '0x6fc23ac00' }],
  ['eth_sendTransaction', { from: HELD, to: OTHER, gas: '0x5208', nonce: '0x0', gasPrice: '0x6fc23ac00' }],
]
const UNKNOWN = { error: { code: -32000, message: 'unknown account' } }

for (const { name, why, begin } of PROXIES)
  test.skipIf(why !== undefined)(
    `behind ${name}${why === undefined ? '' : ` (skipped: ${why})`}: two clients have their own limits, WebSockets upgrade, spoofed headers change nothing, and nothing signs`,
    async () => {
      const keys = join(dir, `keys-${name}`)
      writeFileSync(keys, `# name key calls\nshop ${'s'.repeat(20)} 1000\n`, { mode: 0o600 })
      const node = start(`proxied-${name}`, ['--trust-proxy', '127.0.0.1', '--rate-limit', '1', '--api-keys', keys])
      const ready = await node.ready
      const proxy = await begin(dir, [new URL(ready.http).host], await freePort())
      try {
        const [one, two] = [{ from: '127.0.0.2' }, { from: '127.0.0.3' }]
        expect((await ask(proxy.url, COSTLY, one)).status).toBe(200)
        expect((await ask(proxy.url, CHEAP, one)).status, 'its own limit').toBe(429)
        expect((await ask(proxy.url, CHEAP, two)).status, 'of another client').toBe(200)
        const spoof = { 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.7' }
        expect((await ask(proxy.url, CHEAP, { ...one, headers: spoof })).status, 'through the proxy').toBe(429)
        // Past the proxy, from an address that is not trusted.
        const past = { from: '127.0.0.4', headers: spoof }
        expect((await ask(ready.http, COSTLY, past)).status).toBe(200)
        expect((await ask(ready.http, CHEAP, { ...past, headers: { 'x-forwarded-for': '203.0.113.8' } })).status).toBe(
          429,
        )
        const key = { 'x-api-key': 's'.repeat(20) }
        expect((await ask(proxy.url, CHEAP, { ...one, headers: key })).status, 'with a key').toBe(200)

        const socket = await Socket.open(`${proxy.url.replace('http', 'ws')}/ws/`, key)
        expect(await socket.result('eth_chainId')).toBe('0x1e808f')
        for (const [method, ...params] of SIGNINGS) {
          const { text } = await ask(proxy.url, [method, ...params], { headers: key })
          expect(JSON.parse(text), method).toMatchObject(UNKNOWN)
          const answer = await ask(ready.http, [method, ...params], { headers: key })
          expect(JSON.parse(answer.text), method).toMatchObject(UNKNOWN)
          expect(await socket.call(method, params), method).toMatchObject(UNKNOWN)
        }
        socket.raw.close()
      } finally {
        await proxy.stop()
        await node.end('SIGTERM')
      }
    },
  )

test('with TLS of its own: a renewed certificate is used without a restart, compression, no operator port', async () => {
  const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
  writeCertificate(cert, key)
  const node = start('secure', ['--tls-cert', cert, '--tls-key', key, '--compression', '--operator-port', 'off'])
  const { http, ws, operator } = await node.ready
  expect(operator).toBeUndefined()
  expect([http, ws].map(url => new URL(url).protocol)).toEqual(['https:', 'wss:'])
  const first = await ask(http, CHEAP)
  expect(JSON.parse(first.text)).toMatchObject({ result: '0x1e808f' })
  const genesis = await ask(http, ['rpc_modules'], { headers: { 'accept-encoding': 'gzip' } })
  expect(genesis.status).toBe(200)
  for (const signing of SIGNINGS) expect(JSON.parse((await ask(http, signing)).text)).toMatchObject(UNKNOWN)
  const page = await pageOf(http)
  for (const url of [http, ws]) expect(page).toContain(`<code>${url.replace(/\/$/, '')}`)

  writeCertificate(cert, join(dir, 'other-key.pem'))
  await eventually(
    'a word about the key',
    async () => node.stderr().includes('TLS certificate not reloaded') || undefined,
  )
  expect((await ask(http, CHEAP)).fingerprint, 'the one before is kept').toBe(first.fingerprint)
  writeCertificate(cert, key)
  await eventually('the new certificate', async () => {
    const { fingerprint } = await ask(http, CHEAP)
    return fingerprint !== first.fingerprint || undefined
  })
  expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
})

test.each(['--port', '--p2p-port', '--metrics-port', '--operator-port', '--stratum'])(
  'a port in use: the error names %s, and one that is free',
  async option => {
    const port = await freePort()
    const holder = createServer()
    await new Promise<void>(resolve => holder.listen(port, '127.0.0.1', resolve))
    const node = start('second', ['--p2p-host', '127.0.0.1', option, String(port)])
    expect(await node.exited).toBe(1)
    holder.close()
    const text = new RegExp(
      `^tandem: Port ${port} is in use\\. Stop the other program, or choose another ${option}: (\\d+) is free, 0 picks a free one\\.$`,
      'm',
    )
    const [, named] = text.exec(node.stderr()) ?? []
    expect(Number(named), node.stderr()).toBeGreaterThan(port)
  },
)

test.each([
  [['--http-api', 'eth,personal'], /--http-api: testnet does not allow "personal" there/],
  [['--ws-api', 'debug'], /--ws-api: testnet does not allow "debug" there, only eth, net, rpc, web3\./],
  [['--tls-cert', 'x'], /--tls-cert and --tls-key belong together/],
  [['--trust-proxy', '10.0.0.0/99'], /10\.0\.0\.0\/99/],
])('%j is refused', async (flags, text) => {
  const node = start('refused', flags)
  expect(await node.exited).toBe(1)
  expect(node.stderr()).toMatch(text)
})
