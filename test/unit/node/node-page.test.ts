import { connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { RunningNode } from '../../../src/node/options.ts'
import { ACCOUNT_KEYS, ACCOUNTS } from '../../support/chain.ts'
import { type DevNodeOptions, withDevNode } from '../../support/dev-node.ts'
import { rpc } from '../../support/devnet.ts'

vi.setConfig({ testTimeout: 120_000 })

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

const withNode = (options: DevNodeOptions, use: (urls: RunningNode['urls']) => Promise<void>): Promise<void> =>
  withDevNode((_ask, { urls }) => use(urls), options)

test('a browser gets the page of the node, everybody else what they got before', () =>
  withNode({}, async ({ http }) => {
    const page = await fetch(http, { headers: BROWSER })
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('vary')).toContain('accept')
    const policy = page.headers.get('content-security-policy') as string
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('unsafe')
    const text = await page.text()
    expect(text).toContain('Tandem node on devnet')
    expect(text).toContain('1998999')
    expect(text).toContain(http)
    expect(text).toContain('serves no explorer')
    expect(text).not.toMatch(/<script(?! src=)|<style|\sstyle=|\son[a-z]+=/)
    for (const accept of ['*/*', 'application/json', 'text/plain'])
      expect(await (await fetch(http, { headers: { accept } })).text(), accept).toBe('')
    expect(await rpc(http, 'eth_chainId')).toBe('0x1e8097')
    const socket = new WebSocket(http.replace('http', 'ws'), { headers: BROWSER })
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    socket.terminate()
  }))

test.each([
  ['of a development chain', {}],
  ['without its helpers', { params: { devHelpers: false, blockTimeMs: 1_000 } }],
])('the page names the namespaces that the port serves: %s', (_, options) =>
  withNode(options, async ({ http }) => {
    const served = Object.keys(await rpc<object>(http, 'rpc_modules'))
    const text = await (await fetch(http, { headers: BROWSER })).text()
    expect(/<dt>Namespaces<\/dt><dd>([^<]*)<\/dd>/.exec(text)?.[1]).toBe(served.join(', '))
  }),
)

test('style sheet, script and icon may be kept for ever; other paths are not served', () =>
  withNode({}, async ({ http }) => {
    const text = await (await fetch(http, { headers: BROWSER })).text()
    const paths = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path as string)
    expect(paths).toHaveLength(3)
    for (const path of paths) {
      const asset = await fetch(http + path)
      expect([asset.status, asset.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
      expect((await asset.arrayBuffer()).byteLength).toBeGreaterThan(100)
      expect((await fetch(http + path.replace(/\.[0-9a-f]{10}\./, '.0000000000.'))).status).toBe(404)
    }
    for (const path of ['/assets/', '/assets/../package.json', '/assets/%2e%2e/html.ts', '/assets/style.css'])
      expect((await fetch(http + path)).status, path).toBe(404)
  }))

/** The text of a response to a request with a Host that no client library would send. */
const rawPage = (http: string, host: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(http).port), '127.0.0.1')
    let text = ''
    socket.on('data', data => {
      text += String(data)
    })
    socket.on('error', reject)
    socket.on('end', () => resolve(text))
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`)
  })

test('a Host that is no name does not come into the page', () =>
  withNode({}, async ({ http }) => {
    expect(await rawPage(http, 'node.example:8545')).toContain('http://node.example:8545')
    for (const host of ['a"><script>x', "a' onclick='x", 'a/b', 'a@b', `${'a'.repeat(300)}.example`]) {
      const page = await rawPage(http, host)
      expect(page, host).not.toContain(host)
    }
  }))

test('a development chain shows the accounts whose keys everybody knows', () => {
  const accounts = ACCOUNTS.map((address, index) => ({
    address,
    privateKey: bytesToHex(ACCOUNT_KEYS[index] as Uint8Array) as Hex,
  }))
  return withNode({ devnet: { accounts }, explorer: { startsAtOnce: false } }, async ({ http }) => {
    const text = await (await fetch(http, { headers: BROWSER })).text()
    expect(text.match(/data-copy="0x[0-9a-f]{64}" aria-label="Copy private key"/g)).toHaveLength(4)
    expect(text).toContain('10,000 dTNDM')
    expect(text.match(/href="\/explorer\/address\/0x[0-9a-fA-F]{40}"/g)).toHaveLength(4)
  })
})

test('the operator port has no pages', () =>
  withNode({ operatorPort: 0 }, async ({ operator = '' }) => {
    expect(await (await fetch(operator, { headers: BROWSER })).text()).toBe('')
  }))

test('pages are compressed for those who take it', () =>
  withNode({}, async ({ http }) => {
    const { port } = new URL(http)
    const raw = await new Promise<Buffer>((resolve, reject) => {
      const chunks: Buffer[] = []
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('data', chunk => chunks.push(Buffer.from(chunk))).on('error', reject)
      socket.on('end', () => resolve(Buffer.concat(chunks)))
      socket.write(
        'GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n',
      )
    })
    const end = raw.indexOf('\r\n\r\n') + 4
    expect(raw.subarray(0, end).toString()).toContain('content-encoding: gzip')
    expect(gunzipSync(raw.subarray(end)).toString()).toContain('Tandem node on devnet')
  }))
