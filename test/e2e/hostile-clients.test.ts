import type { Socket as TcpSocket } from 'node:net'
import type { Hex } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type WebSocket from 'ws'
import { RPC_LIMITS } from '../../src/config/limits/clients.ts'
import { alarmsIn } from '../support/alarms.ts'
import { rpc } from '../support/devnet.ts'
import { signerOf } from '../support/load.ts'
import { eventually, type NodeProcess, PATIENCE_MS, type Ready, sleep, spawnNode } from '../support/node-process.ts'
import { dial, request } from '../support/raw-http.ts'
import { Socket } from '../support/rpc/socket.ts'
import { rssMegabytes, scrape } from '../support/scrape.ts'

/** `SLOW=1`: also waits until the node has cut off those who never finish a request (about a minute). */
const SLOW = process.env['SLOW'] === '1'

let node: NodeProcess
let ready: Ready
let port: number

beforeAll(async () => {
  node = spawnNode(['devnet', '--port', '0', '--metrics-port', '0', '--block-time', '0.5'])
  ready = await node.ready
  port = Number(new URL(ready.http).port)
})
afterAll(async () => {
  expect(alarmsIn(node.stderr())).toEqual([])
  // Also with hundreds of clients that do not go.
  expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
})

/** Others are served and blocks come, whatever happens beside them. */
const isAlive = async (): Promise<void> => {
  const before = Number(await rpc<Hex>(ready.http, 'eth_blockNumber'))
  await eventually('the next block', async () =>
    Number(await rpc<Hex>(ready.http, 'eth_blockNumber')) > before ? true : undefined,
  )
  expect((await fetch(`${ready.http}/health`)).status).toBe(200)
}

const openSockets = async (): Promise<number> => (await scrape(ready.metrics)).get('rpc_open_connections') ?? Number.NaN

const several = async <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> => {
  const made: T[] = []
  while (made.length < count)
    made.push(...(await Promise.all(Array.from({ length: Math.min(100, count - made.length) }, (_, i) => make(i)))))
  return made
}

/** Memory may move by the garbage of a busy moment, never by what a client is owed. */
const staysWithin = async (megabytes: number, act: () => Promise<void>): Promise<void> => {
  const before = await rssMegabytes(ready.metrics)
  await act()
  const grown = (await rssMegabytes(ready.metrics)) - before
  expect(grown, `memory grew by ${grown.toFixed(0)} MB`).toBeLessThan(megabytes)
}

describe('slow clients', () => {
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
  const whole = request('POST /', { 'content-type': 'application/json', connection: 'keep-alive' }, body)
  const drops: TcpSocket[] = []
  afterAll(() => {
    for (const socket of drops) socket.destroy()
  })

  test('hundreds that send half a request, or one byte at a time, delay no other client', async () => {
    let closed = 0
    const half = await several(200, async index => {
      const socket = await dial(port)
      socket.on('close', () => closed++).resume()
      // Ends in the request line, in a field, behind the head, in the body.
      socket.write(whole.slice(0, [8, 40, whole.length - body.length, whole.length - 5][index % 4]))
      return socket
    })
    const trickling = await several(100, async () => {
      const socket = await dial(port)
      socket.on('close', () => closed++).resume()
      return socket
    })
    drops.push(...half, ...trickling)
    for (let at = 0; at < 30; at++) {
      for (const socket of trickling) socket.write(whole.slice(at, at + 1))
      await sleep(20)
    }
    // They get their answer, however slowly they asked, and before the time for their heads is over.
    const patient = trickling[0]
    if (patient === undefined) throw new Error('some trickle')
    const answered = new Promise<string>(resolve => patient.once('data', data => resolve(String(data))))
    patient.write(whole.slice(30))
    expect(await answered).toContain('0x1e8097')
    await isAlive()
    if (!SLOW) return
    await eventually('whoever never finishes is cut off', async () => (closed >= 150 ? true : undefined), {
      withinMs: 100_000,
    })
    await isAlive()
  })

  test('a thousand idle connections cost little and do not keep others out', async () => {
    await staysWithin(60, async () => {
      drops.push(...(await several(1_000, () => dial(port))))
      await isAlive()
    })
  })

  test('one that sends thousands of requests and reads no answer is not read on', async () => {
    await staysWithin(120, async () => {
      const socket = await dial(port)
      drops.push(socket.pause())
      const discover = '{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}'
      const call = request('POST /', { 'content-type': 'application/json', connection: 'keep-alive' }, discover)
      let accepted = 0
      // 40 MB of them, more than the buffers between hold.
      for (let i = 0; i < 2_000; i++) socket.write(call.repeat(100), error => error ?? accepted++)
      await sleep(1_000)
      await isAlive()
      expect(accepted, 'the rest waits with the client').toBeLessThan(2_000)
    })
  })

  test('one that hangs up in the middle of its answer', async () => {
    for (let i = 0; i < 50; i++) {
      const socket = await dial(port)
      socket.write(whole.repeat(20))
      if (i % 2 === 0) socket.resetAndDestroy()
      else socket.destroy()
    }
    await isAlive()
  })
})

describe('WebSocket', () => {
  const opened: WebSocket[] = []
  afterAll(() => {
    for (const socket of opened) socket.terminate()
  })
  const open = async (): Promise<Socket> => {
    const socket = await Socket.open(ready.ws)
    opened.push(socket.raw)
    return socket
  }
  const closeCode = (raw: WebSocket): Promise<number> => new Promise(resolve => raw.once('close', resolve))

  test('a message of 5 MiB is read, one of a byte more closes with 1009', async () => {
    const socket = await open()
    const message = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
    const answer = new Promise<string>(resolve => socket.raw.once('message', data => resolve(String(data))))
    socket.raw.send(message.padEnd(RPC_LIMITS.bodyBytes, ' '))
    expect(await answer).toContain('0x1e8097')
    socket.raw.send(message.padEnd(RPC_LIMITS.bodyBytes + 1, ' '))
    expect(await socket.closed).toBe(1009)
  })

  test('a message in fragments that is too large closes with 1009', async () => {
    const { raw, closed } = await open()
    for (let i = 0; i < 6; i++) raw.send(' '.repeat(2 ** 20), { fin: false })
    expect(await closed).toBe(1009)
  })

  test.each([
    ['text that is no UTF-8', [0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28], 1007],
    ['a frame without a mask', [0x81, 0x01, 0x78], 1002],
    ['an opcode nobody knows', [0x83, 0x80, 0, 0, 0, 0], 1002],
    ['reserved bits', [0xf1, 0x80, 0, 0, 0, 0], 1002],
    ['a control frame in fragments', [0x09, 0x80, 0, 0, 0, 0], 1002],
    ['a length of 2^63', [0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 1009],
  ])('%s', async (_, bytes, code) => {
    const { raw } = await open()
    const closed = closeCode(raw)
    ;(raw as unknown as { _socket: TcpSocket })._socket.write(Buffer.from(bytes))
    expect(await closed).toBe(code)
  })

  test('a head that is no upgrade, or for another path, is refused', async () => {
    const upgrade = (fields: Record<string, string>, path = '/ws') =>
      request(`GET ${path}`, {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        ...fields,
      })
    const statusOf = async (bytes: string): Promise<string | undefined> => {
      const socket = await dial(port)
      const head = new Promise<string>(resolve => socket.once('data', data => resolve(String(data))))
      socket.write(bytes)
      const status = /^HTTP\/1\.1 (\d+)/.exec(await head)?.[1]
      socket.destroy()
      return status
    }
    expect(await statusOf(upgrade({}))).toBe('101')
    expect(await statusOf(upgrade({ 'sec-websocket-key': 'short' }))).toBe('400')
    expect(await statusOf(upgrade({ 'sec-websocket-version': '7' }))).toBe('400')
    expect(await statusOf(upgrade({ host: 'evil.example' }))).toBe('403')
    expect(await statusOf(upgrade({ origin: 'https://evil.example' }))).toBe('403')
    expect(await statusOf(upgrade({}, '/nowhere'))).toBe('404')
  })

  test('3,000 subscriptions are served, the next is refused, and one given back makes room', async () => {
    const socket = await open()
    const { subscriptionsPerSocket } = RPC_LIMITS
    const ids = await Promise.all(
      Array.from({ length: subscriptionsPerSocket }, () => socket.result<Hex>('eth_subscribe', ['newHeads'])),
    )
    expect(new Set(ids).size).toBe(subscriptionsPerSocket)
    expect((await socket.call('eth_subscribe', ['newHeads'])).error).toEqual({
      code: -32_000,
      message: 'Maximum 3000 subscriptions are allowed for a websocket connection.',
    })
    expect(await socket.result('eth_unsubscribe', [ids[0]])).toBe(true)
    expect(await socket.result('eth_subscribe', ['syncing'])).toMatch(/^0x/)
    await eventually(
      'every subscription hears of a block',
      async () => {
        const heard = new Set(socket.notifications.map(({ params }) => params.subscription))
        return ids.slice(1).every(id => heard.has(id)) ? true : undefined
      },
      { everyMs: 200 },
    )
    socket.close()
    await eventually('its subscriptions go with it', async () =>
      (await scrape(ready.metrics)).get('rpc_active_subscriptions') === 0 ? true : undefined,
    )
  })

  test('a subscriber that never reads is dropped before it costs much, and others notice nothing', async () => {
    const good = await open()
    await good.result('eth_subscribe', ['newPendingTransactions'])
    const bad = await open()
    for (let i = 0; i < 1_000; i++) await bad.result('eth_subscribe', ['newPendingTransactions', true])
    const closed = closeCode(bad.raw)
    bad.raw.pause()
    const connections = await openSockets()
    const signed = signerOf(ready.accounts[0]?.privateKey ?? '0x', ready.chainId)
    const data = new Uint8Array(2_000)
    await staysWithin(150, async () => {
      // Twenty transactions of 4 kB for each of a thousand subscriptions: far more than sockets and backlog hold.
      for (let nonce = 0; nonce < 20; nonce++)
        await rpc(ready.http, 'eth_sendRawTransaction', [signed({ nonce, data, gasLimit: 300_000n }).raw])
      await eventually('it is dropped', async () => ((await openSockets()) < connections ? true : undefined))
    })
    await good.until(20, PATIENCE_MS)
    await isAlive()
    bad.raw.resume()
    expect([1006, 1013]).toContain(await closed)
  })

  test('one that reads too late gets the reason', async () => {
    const late = await open()
    for (let i = 0; i < 1_000; i++) await late.result('eth_subscribe', ['newPendingTransactions', true])
    const closed = closeCode(late.raw)
    const signed = signerOf(ready.accounts[1]?.privateKey ?? '0x', ready.chainId)
    const data = new Uint8Array(2_000)
    let isClosed = false
    void closed.then(() => {
      isClosed = true
    })
    // Reads now and then, always too little.
    for (let nonce = 0; nonce < 400 && !isClosed; nonce++) {
      late.raw.pause()
      await rpc(ready.http, 'eth_sendRawTransaction', [signed({ nonce, data, gasLimit: 300_000n }).raw])
      if (nonce > 12) late.raw.resume()
      await sleep(5)
    }
    expect(await closed).toBe(1013)
  })

  test('one that asks for much and never reads is dropped', async () => {
    const greedy = await open()
    greedy.raw.pause()
    const connections = await openSockets()
    await staysWithin(150, async () => {
      for (let i = 0; i < 1_000; i++) greedy.raw.send('{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}')
      await eventually('it is dropped', async () => ((await openSockets()) < connections ? true : undefined))
    })
    await isAlive()
  })

  test('the sockets of a client are counted: one beyond its limit is refused with 503, others are served', async () => {
    const free = RPC_LIMITS.budgets.sockets.client - (await openSockets())
    await several(free, open)
    await expect(open()).rejects.toThrow('503')
    expect(await rpc(ready.http, 'eth_chainId'), 'HTTP goes on').toBe('0x1e8097')
    const elsewhere = await Socket.open(ready.ws, {}, '127.0.0.2')
    expect(await elsewhere.result('eth_chainId'), 'another client has places of its own').toBe('0x1e8097')
    elsewhere.close()
    for (const socket of opened.splice(0)) socket.terminate()
    await eventually('they are given back', async () => ((await openSockets()) === 0 ? true : undefined))
    await open()
  })
})
