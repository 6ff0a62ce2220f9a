import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toWord } from '@tandem/base/bytes.ts'
import { type PriceConfig, readPriceConfig } from '@tandem/explorer/price/price-config.ts'
import { PriceService } from '@tandem/explorer/price/price-service.ts'
import { expect, onTestFinished, test } from 'vitest'

const ORACLE = `0x${'0a'.repeat(20)}` as const
const BASE: PriceConfig = {
  pair: undefined,
  oracle: undefined,
  exchanges: [],
  timeoutMs: 20_000,
  maxAgeSeconds: 600,
  refreshSeconds: 30,
}
const NOTHING = { rpc: async () => '{"jsonrpc":"2.0","id":1,"result":"0x"}' }
const absent = { price: null, pair: 'TDM/USDT', roundId: null, oracle: null, sources: 0, exchanges: [] }

/** Answers of exchanges by path, on loopback; counts what was asked. */
const withExchanges = async (answers: Readonly<Record<string, (response: ServerResponse) => void>>) => {
  let asked = 0
  const server = createServer(({ url = '' }, response) => {
    asked++
    answers[url]?.(response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    asked: () => asked,
    exchange: (name: string, path: string) => ({ name, url: `${url}/${name}`, path: path.split('.') }),
  }
}
const json = (value: unknown) => (response: ServerResponse) => void response.end(JSON.stringify(value))

const serviceOf = (config: PriceConfig | undefined, node: { rpc(request: string): Promise<string> } = NOTHING) => {
  const clock = { ms: 1_735_689_600_000 }
  return { clock, service: new PriceService({ config, symbol: 'TDM', node, nowMs: () => clock.ms }) }
}

test('without sources nothing is claimed', async () => {
  expect(await serviceOf(undefined).service.price()).toEqual(absent)
})

test('the middle of the exchanges that answer counts; those that fail are left out', async () => {
  const { exchange, asked } = await withExchanges({
    '/a': json({ data: [{ last: '0.5' }] }),
    '/b': json({ price: 0.7 }),
    '/c': json({ price: 9 }),
    '/status': response => void response.writeHead(500).end('{"price":1}'),
    '/text': response => void response.end('no json'),
    '/negative': json({ price: -1 }),
    '/path': json({ other: 1 }),
    '/inherited': json({}),
    '/long': json({ price: 1, filler: 'x'.repeat(300_000) }),
    '/moved': response => void response.writeHead(302, { location: '/b' }).end(),
  })
  const failing = ['status', 'text', 'negative', 'path', 'long', 'moved'].map(name => exchange(name, 'price'))
  const exchanges = [exchange('a', 'data.0.last'), exchange('b', 'price'), exchange('c', 'price'), ...failing]
  const { service, clock } = serviceOf({ ...BASE, exchanges: [...exchanges, exchange('inherited', 'toString.length')] })
  const expected = {
    price: 0.7,
    sources: 3,
    exchanges: [
      { name: 'a', price: 0.5 },
      { name: 'b', price: 0.7 },
      { name: 'c', price: 9 },
    ],
  }
  expect(await service.price()).toEqual({ ...absent, ...expected })
  const count = asked()
  // Until the next round is due nobody is asked again, and an answer that is too old is no price.
  expect(await service.price()).toMatchObject(expected)
  expect(asked()).toBe(count)
  const two = serviceOf({ ...BASE, exchanges: exchanges.slice(0, 2) })
  expect((await two.service.price()).price).toBe(0.6)
  clock.ms += 31_000
  expect(await service.price()).toMatchObject(expected)
})

test('an exchange that never answers is not waited for longer than the config says, and the others count', async () => {
  const { exchange } = await withExchanges({ '/a': json({ price: 2 }), '/silent': () => {} })
  const exchanges = [exchange('silent', 'price'), exchange('a', 'price')]
  const { service } = serviceOf({ ...BASE, exchanges, timeoutMs: 4_000 })
  expect(await service.price()).toMatchObject({ price: 2, sources: 1 })
})

test('an oracle counts before the exchanges as long as its round is fresh', async () => {
  const { exchange } = await withExchanges({ '/a': json({ price: 2 }) })
  const updatedAt = 1_735_689_600 - 100
  const round = { roundId: 520n, answer: 1_498_700n, updatedAt: BigInt(updatedAt) }
  const node = {
    rpc: async (request: string) => {
      const [{ to, data }] = (JSON.parse(request) as { params: [{ to: string; data: string }] }).params
      expect(to).toBe(ORACLE)
      const words = data === '0x313ce567' ? [8n] : [round.roundId, round.answer, 0n, round.updatedAt, round.roundId]
      const result = `0x${words.map(word => toWord(word).slice(2)).join('')}`
      return JSON.stringify({ jsonrpc: '2.0', id: 1, result })
    },
  }
  const config = { ...BASE, oracle: ORACLE, exchanges: [exchange('a', 'price')], pair: 'TDM/USD' }
  const { service, clock } = serviceOf(config, node)
  const oracle = expect.stringMatching(/^0x0a/i)
  expect(await service.price()).toMatchObject({ price: 0.014987, roundId: 520, oracle, sources: 1, pair: 'TDM/USD' })
  // Its round grows old; what the exchange answered counts.
  clock.ms += 550_000
  expect(await service.price()).toMatchObject({ price: 2, roundId: null, oracle })
  for (const answer of [0n, 2n ** 256n - 5n]) {
    round.answer = answer
    round.updatedAt = BigInt(updatedAt)
    expect(await serviceOf({ ...config, exchanges: [] }, node).service.price()).toMatchObject({
      price: null,
      roundId: null,
    })
  }
})

test('a file that cannot be used is refused with the reason', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-price-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'price.json')
  const read = (value: unknown): PriceConfig => {
    writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value))
    return readPriceConfig(file)
  }
  const exchange = { name: 'a', url: 'https://example.org/t', path: 'data.0.last' }
  expect(read({ oracle: ORACLE.toUpperCase().replace('0X', '0x'), exchanges: [exchange], timeoutMs: 100 })).toEqual({
    pair: undefined,
    oracle: ORACLE,
    exchanges: [{ ...exchange, path: ['data', '0', 'last'] }],
    timeoutMs: 100,
    maxAgeSeconds: 3_600,
    refreshSeconds: 30,
  })
  for (const bad of [
    '{',
    [],
    { pairs: 'x' },
    { oracle: '0x1' },
    { exchanges: {} },
    { exchanges: [{ ...exchange, url: 'file:///etc/passwd' }] },
    { timeoutMs: 0 },
    { exchanges: [{ name: 'a' }] },
  ])
    expect(() => read(bad), JSON.stringify(bad)).toThrow()
})
