import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { RPC_LIMITS } from '../../src/config/limits/clients.ts'
import { eventually, type NodeProcess, type Ready, sleep, spawnNode } from '../support/node-process.ts'
import { dial, exchange, request } from '../support/raw-http.ts'
import { scrape } from '../support/scrape.ts'

/* Floods that take every place, and take it again as soon as it is lost; honest visitors of new addresses come all the time. */

const { connections, sockets } = RPC_LIMITS.budgets
const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
const FLOOD_MS = Number(process.env['CONNECTION_FLOOD_MS'] ?? 4_000)
const AIM_MS = 2_000
const LEAST_VISITORS = 5

let node: NodeProcess
let ready: Ready
let port: number
beforeAll(async () => {
  node = spawnNode(['devnet', '--port', '0', '--metrics-port', '0', '--log-level', 'warn'])
  ready = await node.ready
  port = Number(new URL(ready.http).port)
})
afterAll(async () => {
  expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
})

const held = async (budget: string): Promise<number> =>
  (await scrape(ready.metrics)).get(`rpc_budget_held_size{budget="${budget}"}`) ?? Number.NaN

/** Keeps `count` connections of an address open until it is stopped; `open` resolves when one is, with its end. */
const flood = (count: number, open: () => Promise<{ readonly ended: Promise<unknown>; close(): void }>) => {
  let isOver = false
  const opened = new Set<{ close(): void }>()
  const keep = async (): Promise<void> => {
    while (!isOver) {
      const one = await open().catch(() => undefined)
      if (one === undefined) {
        await sleep(20)
        continue
      }
      opened.add(one)
      if (isOver) one.close()
      await one.ended
      opened.delete(one)
    }
  }
  const all = Promise.all(Array.from({ length: count }, keep))
  return {
    stop: async () => {
      isOver = true
      for (const one of opened) one.close()
      await all
    },
  }
}

const socketOf = async (from: string) => {
  const socket: Socket = await dial(port, from)
  const ended = new Promise(resolve => socket.resume().once('close', resolve))
  return { ended, close: () => void socket.destroy() }
}
const webSocketOf = async (from: string) => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { localAddress: from, perMessageDeflate: false })
  const ended = new Promise(resolve => socket.once('close', resolve))
  socket.on('error', () => {})
  await Promise.race([
    once(socket, 'open'),
    ended.then(() => {
      throw new Error('refused')
    }),
  ])
  return { ended, close: () => socket.terminate() }
}

/** Milliseconds until each of many visitors, each of an address of its own, has its answer. */
const visit = async (subnet: string, one: (from: string) => Promise<void>): Promise<number[]> => {
  const times: number[] = []
  const until = performance.now() + FLOOD_MS
  for (let visitor = 1; performance.now() < until || times.length < LEAST_VISITORS; visitor++) {
    const startedMs = performance.now()
    await one(`${subnet}.${1 + (visitor % 250)}`)
    times.push(performance.now() - startedMs)
    await sleep(50)
  }
  return times
}

/** The most of them; a machine that stands still for a while makes one late, and the others of that while. */
const arePrompt = (times: readonly number[]): void => {
  const sorted = times.toSorted((a, b) => a - b)
  expect(sorted[Math.floor(0.75 * sorted.length)]).toBeLessThan(AIM_MS)
  expect(sorted.at(-1)).toBeLessThan(5 * AIM_MS)
}

const callOverHttp = async (from: string): Promise<void> => {
  const { status, body } = await exchange(port, request('POST /', { 'content-type': 'application/json' }, CALL), from)
  expect([status, body]).toEqual([200, expect.stringContaining('result')])
}
const callOverWebSocket = async (from: string): Promise<void> => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { localAddress: from })
  await once(socket, 'open')
  socket.send(CALL)
  const [answer] = await once(socket, 'message')
  expect(String(answer)).toContain('result')
  socket.terminate()
}

describe('honest visitors get a place within two seconds', () => {
  test('while three addresses hold every WebSocket', async () => {
    const floods = ['127.2.0.1', '127.2.0.2', '127.2.0.3'].map(from => flood(sockets.client, () => webSocketOf(from)))
    await eventually('every place is taken', async () => (await held('sockets')) > 0.98 * sockets.total || undefined)
    const times = await visit('127.2.1', callOverWebSocket)
    await Promise.all(floods.map(one => one.stop()))
    arePrompt(times)
  })

  test('while four addresses hold every connection', async () => {
    const floods = [1, 2, 3, 4].map(n => flood(connections.client, () => socketOf(`127.3.0.${n}`)))
    await eventually(
      'every place is taken',
      async () => (await held('connections')) > 0.98 * connections.total || undefined,
    )
    const times = await visit('127.3.1', callOverHttp)
    await Promise.all(floods.map(one => one.stop()))
    arePrompt(times)
  })
})
