import { readdirSync, readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { FORWARD_LIMITS } from '../../../src/config/limits/clients.ts'
import { FORWARD_KEY_HEADER } from '../../../src/node/parts/pages/forward.ts'
import { withDevNode } from '../../support/dev-node.ts'
import { eventually } from '../../support/devnet.ts'

vi.setConfig({ testTimeout: 180_000 })

/** Process ids of the explorers that this process started. */
const explorers = (): readonly number[] =>
  readdirSync('/proc').flatMap(name => {
    try {
      const parent = Number(readFileSync(`/proc/${name}/stat`, 'latin1').split(') ').at(-1)?.split(' ')[1])
      const isOurs = parent === process.pid && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes('behind-node')
      return isOurs ? [Number(name)] : []
    } catch {
      return []
    }
  })

const LAZY = { explorer: { startsAtOnce: false } }

test('the first request starts the process; one that ended is started again, and requests are told so until then', () =>
  withDevNode(async (ask, { urls }) => {
    await ask('evm_mine')
    expect(explorers()).toEqual([])
    const [first, second] = await Promise.all(['supply', 'stats'].map(path => fetch(`${urls.http}/api/${path}`)))
    expect([first?.status, second?.status]).toEqual([200, 200])
    const [pid, ...others] = explorers() as [number]
    expect(others).toEqual([])

    process.kill(pid, 'SIGKILL')
    const away = await eventually(
      'a request without an explorer',
      () => fetch(`${urls.http}/api/supply`),
      ({ status }) => status === 503,
    )
    expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(away.headers.get('access-control-allow-origin')).toBe('*')
    expect(await away.json()).toMatchObject({
      error: { code: 'EXPLORER_UNAVAILABLE', message: expect.stringContaining('started again in') },
    })
    expect(await (await fetch(`${urls.http}/api?module=stats&action=ethsupply`)).json()).toMatchObject({ status: '0' })
    const page = await fetch(`${urls.http}/explorer`)
    expect([page.status, page.headers.get('content-type')]).toEqual([503, 'text/plain; charset=utf-8'])
    expect(await ask('eth_blockNumber')).toBe('0x1')
    await eventually(
      'the explorer again',
      () => fetch(`${urls.http}/api/supply`),
      ({ status }) => status === 200,
    )
    expect(explorers()).not.toContain(pid)
  }, LAZY).then(() => expect(explorers()).toEqual([])))

test('a client is known by its connection to the node, whatever its headers say', () =>
  withDevNode(async (_ask, { urls }) => {
    const left: number[] = []
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) {
      const headers = { 'x-forwarded-for': address, forwarded: `for=${address}`, [FORWARD_KEY_HEADER]: '00' }
      const response = await fetch(`${urls.http}/api/supply`, { headers })
      left.push(Number(response.headers.get('ratelimit-remaining')))
    }
    expect(left).toEqual([99, 98, 97])
  }, LAZY))

test('behind a proxy that is trusted, clients are told apart by the address that it names', () =>
  withDevNode(
    async (_ask, { urls }) => {
      const left: number[] = []
      for (const address of ['192.0.2.1', '192.0.2.1', '2001:db8::1', '2001:db8::2']) {
        const response = await fetch(`${urls.http}/api/supply`, { headers: { 'x-forwarded-for': address } })
        left.push(Number(response.headers.get('ratelimit-remaining')))
      }
      expect(left).toEqual([99, 98, 99, 98])
    },
    { ...LAZY, publicPort: { trustProxy: { proxies: ['loopback'], header: 'x-forwarded-for' } } },
  ))

test('a body in chunks reaches the explorer whole, also when its request starts it', () =>
  withDevNode(async (_ask, { urls }) => {
    const pieces = ['module=stats&', 'action=eths', 'upply']
    const response = await fetch(`${urls.http}/api`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: ReadableStream.from(pieces.map(piece => Buffer.from(piece))),
      duplex: 'half',
    } as RequestInit)
    expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ status: '1' })])
  }, LAZY))

test('a client has so many requests in progress', () =>
  withDevNode(async (_ask, { urls }) => {
    const { client } = FORWARD_LIMITS.requests
    const responses = await Promise.all(Array.from({ length: client + 1 }, () => fetch(`${urls.http}/api/supply`)))
    const last = responses.filter(({ status }) => status === 503)
    expect(last).toHaveLength(1)
    expect(await last[0]?.json()).toMatchObject({ error: { message: expect.stringContaining('too many requests') } })
  }, LAZY))

test('methods that the operator switched off are passed on to nobody, and the index is filled all the same', () =>
  withDevNode(
    async (ask, { urls }) => {
      await ask('evm_mine')
      const module = (query: string) => fetch(`${urls.http}/api?module=proxy&action=${query}`)
      expect(await (await module('eth_getBlockTransactionCountByNumber&tag=0x1')).json()).toMatchObject({
        result: '0x0',
      })
      expect(await (await module('eth_getBlockByNumber&tag=0x1&boolean=true')).json()).toMatchObject({
        error: { code: -32_075, message: 'Method disabled' },
      })
      expect(await (await fetch(`${urls.http}/api/blocks?limit=1`)).json()).toMatchObject({ items: [{ number: 1 }] })
    },
    { ...LAZY, disabledMethods: ['eth_getBlockByNumber', 'eth_getBlockReceipts'] },
  ))
