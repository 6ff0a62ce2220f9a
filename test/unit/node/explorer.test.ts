import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { EXPLORER_LIMITS } from '@tandem/explorer/limits.ts'
import { expect, test, vi } from 'vitest'
import { checksumAddress } from '../../../src/crypto/checksum.ts'
import type { ExplorerNodeOptions } from '../../../src/node/options.ts'
import { ACCOUNT_KEYS, ACCOUNTS, signedRaw, VALIDATOR } from '../../support/chain.ts'
import { withDevNode } from '../../support/dev-node.ts'
import { rpc } from '../../support/devnet.ts'

// Each test starts a node and two threads.
vi.setConfig({ testTimeout: 120_000 })

const [ALICE, BOB] = ACCOUNTS as readonly [Hex, Hex]

interface Node {
  readonly http: string
  readonly dataDir: string
  readonly explorer: string | undefined
}

const withExplorer = (
  explorer: (dataDir: string) => ExplorerNodeOptions | undefined,
  use: (node: Node) => Promise<void>,
): Promise<void> =>
  withDevNode(
    (_ask, { urls, dataDir }) => use({ http: urls.http, dataDir, explorer: urls.explorer }),
    dataDir => {
      const options = explorer(dataDir)
      return options ? { explorer: options } : {}
    },
  )

const LAZY = () => ({ startsAtOnce: false })

const send = (http: string, nonce: number, value: bigint, gasLimit = 21_000n): Promise<Hex> =>
  rpc(http, 'eth_sendRawTransaction', [
    bytesToHex(signedRaw(ACCOUNT_KEYS[0] as Uint8Array, { nonce, value, gasLimit })),
  ])

const body = async (url: string): Promise<Record<string, unknown>> => (await fetch(url)).json() as never

test('a transaction is in the lists as soon as it has its receipt, and goes when the chain takes it back', () =>
  withExplorer(LAZY, async ({ http, explorer }) => {
    expect(explorer).toBe(`${http}/api`)
    const snapshot = await rpc(http, 'evm_snapshot')
    const first = await send(http, 0, 1n)
    expect(await body(`${http}/api/transactions`)).toMatchObject({ total: 1, items: [{ hash: first }] })
    const second = await send(http, 1, 2n)
    expect(await body(`${http}/api/transactions`)).toMatchObject({
      total: 2,
      items: [{ hash: second }, { hash: first }],
    })
    expect(await rpc(http, 'evm_revert', [snapshot])).toBe(true)
    const third = await send(http, 0, 3n)
    expect(await body(`${http}/api/transactions`)).toMatchObject({ total: 1, items: [{ hash: third }] })
    expect((await fetch(`${http}/api/transactions/${first}`)).status).toBe(404)
    expect(await body(`${http}/api/addresses/${BOB}`)).toMatchObject({ transactionCount: 1 })
    expect(await body(`${http}/api/network`)).toMatchObject({ blockNumber: 1, latestBlock: { transactionCount: 1 } })
    expect(await body(`${http}/api/unions`)).toMatchObject({ totalCnt: 1, members: [{ proposedBlocks: 1 }] })
    expect(await body(`${http}/api/blocks/1`)).toMatchObject({ round: 0, committers: { length: 1 } })
  }))

test('a validator that is the foundation too is found by its own name', () =>
  withExplorer(LAZY, async ({ http }) => {
    await send(http, 0, 1n)
    const address = checksumAddress(VALIDATOR)
    expect(await body(`${http}/api/search?q=devnet`)).toMatchObject({
      results: [{ address, name: 'Validator devnet' }],
    })
    expect(await body(`${http}/api/addresses/${VALIDATOR}`)).toMatchObject({ label: 'Validator devnet' })
    expect(await body(`${http}/api/search?q=foundation`)).toMatchObject({ results: [] })
  }))

test('the modules answer as wallets and tools ask', () =>
  withExplorer(LAZY, async ({ http }) => {
    const hash = await send(http, 0, 5n)
    const ask = (query: string) => body(`${http}/api?${query}`)
    expect(await ask(`module=account&action=balance&address=${BOB}`)).toMatchObject({ status: '1', message: 'OK' })
    expect(
      await ask(`module=account&action=txlist&address=${ALICE}&startblock=0&endblock=99999999&sort=asc`),
    ).toMatchObject({
      status: '1',
      result: [{ hash, from: ALICE, to: BOB, value: '5', isError: '0', blockNumber: '1' }],
    })
    expect(await ask(`module=transaction&action=gettxreceiptstatus&txhash=${hash}`)).toMatchObject({
      result: { status: '1' },
    })
    expect(await ask(`module=contract&action=getabi&address=${BOB}`)).toEqual({
      status: '0',
      message: 'NOTOK',
      result: 'Contract source code not verified',
    })
    expect(await ask('module=proxy&action=eth_blockNumber')).toEqual({ jsonrpc: '2.0', id: 1, result: '0x1' })
    expect(await ask(`module=proxy&action=eth_getTransactionReceipt&txhash=${hash}`)).toMatchObject({
      result: { status: '0x1' },
    })
    expect(await ask('module=account&action=steal')).toMatchObject({
      status: '0',
      result: 'Error! Missing Or invalid Action name',
    })
    const posted = await fetch(`${http}/api`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `module=account&action=balance&address=${BOB.slice(2).toUpperCase()}`,
    })
    expect(await posted.json()).toMatchObject({ status: '1' })
  }))

test('an answer of the node that is too long is told as such, by module and page', () =>
  withExplorer(LAZY, async ({ http }) => {
    // Returns 2,880,000 bytes: RETURN(0, 2880000).
    await rpc(http, 'hardhat_setCode', [BOB, '0x622bf2005ff3'])
    const asked = await fetch(`${http}/api?module=proxy&action=eth_call&to=${BOB}`)
    expect([asked.status, await asked.json()]).toEqual([
      200,
      { status: '0', message: 'NOTOK', result: 'Error! The answer is too long' },
    ])
    const hash = await send(http, 0, 0n, 20_000_000n)
    expect(await rpc(http, 'eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1' })
    const page = await fetch(`${http}/explorer/tx/${hash}?tab=calls`)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('This node does not show calls.')])
  }))

test('a hundred requests pass and the next does not; a key of the file has a thousand', () =>
  withExplorer(
    dataDir => {
      const keysFile = join(dataDir, 'keys')
      writeFileSync(keysFile, '# gold\nsecret-key\n')
      return { startsAtOnce: true, keysFile }
    },
    async ({ http }) => {
      const ask = async (headers: Record<string, string> = {}) => {
        const response = await fetch(`${http}/api/supply`, { headers })
        await response.arrayBuffer()
        return response
      }
      const answers: Response[] = []
      for (let i = 0; i < 101; i++) answers.push(await ask(i % 2 ? {} : { 'x-api-key': 'unknown' }))
      expect(answers.slice(0, 100).every(({ status }) => status === 200)).toBe(true)
      const refused = answers[100] as Response
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(refused.headers.get('access-control-allow-origin')).toBe('*')
      const keyed = await ask({ 'x-api-key': 'secret-key' })
      expect([keyed.status, keyed.headers.get('x-ratelimit-limit')]).toEqual([200, '1000'])
      expect((await fetch(`${http}/api/supply?apikey=secret-key`)).status).toBe(200)
      const preflight = await fetch(`${http}/api/supply`, { method: 'OPTIONS' })
      expect([preflight.status, preflight.headers.get('access-control-max-age')]).toEqual([204, '86400'])
    },
  ))

test('of many requests of a client at once those wait that have a place, and the others are refused', () =>
  withExplorer(LAZY, async ({ http }) => {
    const { running, waiting } = EXPLORER_LIMITS.api
    const most = running.client + waiting.client
    // The first one starts the thread that answers: all of them come before it does.
    const paths = Array.from({ length: most + 6 }, (_, at) => `${http}${at % 2 ? '/api' : '/explorer'}/supply`)
    const answers = await Promise.all(paths.map(path => fetch(path)))
    const refused = answers.filter(({ status }) => status === 429)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(most)
    expect(refused).toHaveLength(6)
    for (const answer of refused) {
      expect(answer.headers.get('retry-after')).toBe('1')
      expect(await answer.text()).toContain('Too many of your requests wait')
    }
    expect((await fetch(`${http}/api/supply`)).status).toBe(200)
  }))

test('bodies, addresses and methods have their bounds', () =>
  withExplorer(LAZY, async ({ http }) => {
    const post = async (path: string, bytes: number) =>
      (await fetch(`${http}${path}`, { method: 'POST', body: 'x'.repeat(bytes) })).status
    expect(await post('/api/blocks', 300_000)).toBe(413)
    // Source code is larger.
    expect(await post('/api', 300_000)).toBe(200)
    expect(await post('/api', 9_000_000)).toBe(413)
    expect((await fetch(`${http}/api/search?q=${'x'.repeat(9_000)}`)).status).toBe(414)
    const put = await fetch(`${http}/api/blocks`, { method: 'PUT' })
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    const binary = await fetch(`${http}/api`, { method: 'POST', headers: { 'content-type': 'image/png' }, body: 'x' })
    expect(binary.status).toBe(415)
    const head = await fetch(`${http}/api/supply`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  }))

test('pages count as requests of the API, and the refusal is a page', () =>
  withExplorer(LAZY, async ({ http }) => {
    const first = await fetch(`${http}/explorer/supply`)
    expect([first.status, first.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(Number(first.headers.get('ratelimit-remaining'))).toBe(99)
    const style = /href="(\/assets\/style[^"]+)"/.exec(await first.text())?.[1] as string
    for (let i = 1; i < 100; i++) await (await fetch(`${http}/${i % 2 ? 'api' : 'explorer'}/supply`)).arrayBuffer()
    const refused = await fetch(`${http}/explorer/supply`)
    expect([refused.status, refused.headers.get('cache-control')]).toEqual([429, 'no-store'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused.text()).toContain('<h1>Too many requests</h1>')
    expect((await fetch(`${http}/explorer/live`)).status).toBe(429)
    expect((await fetch(http + style)).status).toBe(200)
  }))

test('the stream of blocks tells of each block', () =>
  withExplorer(LAZY, async ({ http }) => {
    const stream = await fetch(`${http}/explorer/live`)
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader()
    const hash = await send(http, 0, 9n)
    let text = ''
    while (!text.includes(hash)) text += Buffer.from((await reader.read()).value as Uint8Array).toString()
    expect(text).toMatch(/^data: \{"head":/m)
    await reader.cancel()
    expect((await fetch(`${http}/explorer`, { method: 'POST' })).status).toBe(404)
    expect((await fetch(`${http}/explorer/search?q=${'x'.repeat(9_000)}`)).status).toBe(414)
  }))

test('a node without the explorer has no such path', () =>
  withExplorer(
    () => undefined,
    async ({ http, explorer }) => {
      expect(explorer).toBeUndefined()
      expect((await fetch(`${http}/api/supply`)).status).toBe(404)
    },
  ))
