import { request } from 'node:http'
import { connect } from 'node:net'
import type { Hex } from '@tandem/base/bytes.ts'
import { afterEach, describe, expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../../../src/config/limits/clients.ts'
import { NETWORKS } from '../../../../../src/config/networks.ts'
import { eventually } from '../../../../support/node-process.ts'
import { hubOn } from '../../../../support/rpc/hub.ts'
import { signedTransaction } from '../../../../support/rpc/memory-chain.ts'
import { Rig } from '../../../../support/rpc/rig.ts'
import { Socket } from '../../../../support/rpc/socket.ts'

let rig: Rig
const sockets: Socket[] = []
const start = async (options: Parameters<typeof Rig.start>[0] = {}): Promise<Rig> => {
  rig = await Rig.start(options)
  return rig
}
const open = async (path = '/ws', headers: Record<string, string> = {}): Promise<Socket> => {
  const socket = await Socket.open(`ws://127.0.0.1:${rig.server.port}${path}`, headers)
  sockets.push(socket)
  return socket
}
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.close()
  await rig.stop()
})

const TOKEN: Hex = `0x${'aa'.repeat(20)}`
const TOPIC: Hex = `0x${'bb'.repeat(32)}`
const log = (topics: Hex[] = [TOPIC], address = TOKEN) => ({ address, topics, data: Uint8Array.of(1) })

describe('messages', () => {
  test('that were read when the turn of their client was over are answered in order', async () => {
    await start()
    const socket = await open()
    const answers = await Promise.all(
      Array.from({ length: 3_000 }, (_, at) => socket.call(at % 2 === 0 ? 'rpc_modules' : 'eth_chainId')),
    )
    const ids = socket.frames.map(frame => ('id' in frame ? Number(frame.id) : 0))
    expect(ids).toHaveLength(3_000)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    expect(answers.every(({ result }) => result !== undefined)).toBe(true)
  })
})

describe('upgrade', () => {
  test('serves calls on the path of the network, and nowhere else', async () => {
    await start()
    const socket = await open()
    expect(await socket.result('eth_chainId')).toBe('0x134fe69')
    await expect(open('/')).rejects.toThrow('404')
    await expect(open('/ws/')).rejects.toThrow('404')
  })

  test('that is refused gives its connection back, whether its client closes it or not', async () => {
    await start()
    const { connections } = rig.server.budgets
    const from = '127.0.0.3'
    const socket = connect({ port: rig.server.port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true })
    socket.on('error', () => {}).resume()
    const fields = 'host: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n'
    socket.write(`GET /none HTTP/1.1\r\n${fields}sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`)
    await new Promise(resolve => socket.once('end', resolve))
    expect(connections.heldBy(from)).toBe(1)
    // Unread bytes hide the end of the connection.
    socket.write('x')
    await eventually('the place is free', async () => connections.heldBy(from) === 0 || undefined)
    socket.destroy()
  })

  test('answers 301 to the path without a slash on testnet, where native is closed', async () => {
    await start({ network: NETWORKS.testnet })
    await expect(open('/ws')).rejects.toThrow('301')
    const socket = await open('/ws/')
    expect(await socket.result('rpc_modules')).toEqual({ eth: '1.0', net: '1.0', rpc: '1.0', web3: '1.0' })
    expect((await socket.call('native_blockNumber')).error).toEqual({
      code: -32601,
      message: 'the method native_blockNumber does not exist/is not available',
    })
    expect(await socket.result('web3_sha3', ['0x'])).toBe(
      '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
    )
  })

  test('lets a browser in from listed origins and from this machine', async () => {
    await start({ cors: ['https://app.example'] })
    await open('/ws', { origin: 'https://app.example' })
    await expect(open('/ws', { origin: 'https://evil.example' })).rejects.toThrow('403')
    await rig.stop()
    await start()
    await open('/ws', { origin: 'http://localhost:5173' })
    await expect(open('/ws', { origin: 'https://evil.example' })).rejects.toThrow('403')
  })

  test('takes a POST that offers another upgrade as a plain one', async () => {
    await start()
    const status = await new Promise(resolve => {
      const call = request(
        rig.url,
        { method: 'POST', headers: { 'content-type': 'application/json', connection: 'Upgrade', upgrade: 'h2c' } },
        response => {
          response.resume()
          resolve(response.statusCode)
        },
      )
      call.end('{"id":1,"method":"eth_chainId"}')
    })
    expect(status).toBe(200)
  })
})

describe('messages', () => {
  test('answers batches, bad JSON and notifications as HTTP does', async () => {
    await start()
    const socket = await open()
    socket.raw.send('{')
    socket.raw.send('{"method":"eth_chainId"}')
    socket.raw.send('[{"id":"a","method":"eth_chainId"},{"id":"b","method":"eth_feeHistory","params":[1,"latest"]}]')
    await socket.result('eth_chainId')
    await expect.poll(() => socket.frames.length).toBeGreaterThanOrEqual(3)
    expect(socket.frames).toHaveLength(3)
    expect(socket.frames[0]).toMatchObject({ id: null, error: { code: -32700 } })
  })

  test('drops a message above the limit', async () => {
    await start()
    const socket = await open()
    socket.raw.send(' '.repeat(RPC_LIMITS.bodyBytes + 1))
    expect(await socket.closed).toBe(1009)
  })

  test('of a client that is dropped are not handled any more', async () => {
    await start()
    const { bodies, filters } = rig.server.budgets
    const socket = await open()
    const others = bodies.meter('127.0.0.1')
    others.hold(bodies.limits.client)
    // Two pieces for the reader: what comes with the message that has no room, and what comes later.
    socket.raw.send(`{"id":1,"method":"${'x'.repeat(10_000)}"}`)
    for (let id = 0; id < 100; id++) socket.raw.send(`{"id":${id},"method":"eth_newBlockFilter"}`)
    expect(await socket.closed).toBe(1013)
    expect(filters.held).toBe(0)
    others.hold(0)
  })

  test('answers all of many calls in flight', async () => {
    await start()
    const socket = await open()
    const calls = Array.from({ length: RPC_LIMITS.socketInFlight + 500 }, () =>
      socket.result('eth_call', [{ data: '0x01' }, 'latest']),
    )
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['0x01']))
  })
})

describe('subscriptions', () => {
  test('sends heads with the members of a block but its transactions', async () => {
    await start()
    const socket = await open()
    const id = await socket.result('eth_subscribe', ['newHeads'])
    const block = rig.chain.append()
    const [head] = await socket.until(1)
    expect(head).toMatchObject({
      jsonrpc: '2.0',
      method: 'eth_subscription',
      params: { subscription: id, result: { number: '0x1', hash: block.hash } },
    })
    const { transactions, uncles, ...header } = await rig.result<Record<string, unknown>>('eth_getBlockByNumber', [
      '0x1',
      false,
    ])
    expect(head?.params.result).toEqual(header)
    expect([transactions, uncles]).toEqual([[], []])
  })

  test('sends the logs that match', async () => {
    await start()
    const socket = await open()
    const other: Hex = `0x${'cc'.repeat(20)}`
    const all = await socket.result('eth_subscribe', ['logs', {}])
    const mine = await socket.result('eth_subscribe', ['logs', { address: TOKEN, topics: [null, [TOPIC]] }])
    rig.chain.append({
      transactions: [signedTransaction({ nonce: 0 })],
      logs: [[log(), log([TOPIC, TOPIC]), log([TOPIC, TOPIC], other)]],
    })
    const seen = (await socket.until(4)).map(({ params }) => [
      params.subscription,
      (params.result as { logIndex: string }).logIndex,
    ])
    expect(seen.filter(([id]) => id === all).map(([, index]) => index)).toEqual(['0x0', '0x1', '0x2'])
    expect(seen.filter(([id]) => id === mine)).toEqual([[mine, '0x1']])
    const direct = await rig.result<unknown[]>('eth_getLogs', [{ fromBlock: '0x1' }])
    expect(
      socket.notifications.filter(({ params }) => params.subscription === all).map(({ params }) => params.result),
    ).toEqual(direct)
  })

  test('sends pending transactions as hashes or whole', async () => {
    await start()
    const socket = await open()
    const hashes = await socket.result('eth_subscribe', ['newPendingTransactions'])
    const whole = await socket.result('eth_subscribe', ['newPendingTransactions', true])
    const transaction = signedTransaction({ nonce: 0 })
    rig.pool.add(transaction)
    const seen = new Map((await socket.until(2)).map(({ params }) => [params.subscription, params.result]))
    expect(seen.get(hashes as string)).toBe(transaction.hash)
    expect(seen.get(whole as string)).toEqual(await rig.result('eth_getTransactionByHash', [transaction.hash]))
  })

  test('says at once whether the node is in sync, and when that changes', async () => {
    await start()
    const socket = await open()
    await socket.result('eth_subscribe', ['syncing'])
    expect((await socket.until(1))[0]?.params.result).toBe(false)
    rig.chain.syncStatus = { startingBlock: 0, currentBlock: 1, highestBlock: 9 }
    expect((await socket.until(2))[1]?.params.result).toEqual({
      syncing: true,
      status: { startingBlock: '0x0', currentBlock: '0x1', highestBlock: '0x9' },
    })
  })

  test('stops when told, and names what it does not know', async () => {
    await start()
    const socket = await open()
    const id = await socket.result('eth_subscribe', ['newHeads'])
    expect(await socket.result('eth_unsubscribe', [id])).toBe(true)
    rig.chain.append()
    expect((await socket.call('eth_unsubscribe', [id])).error).toEqual({
      code: -32000,
      message: 'subscription not found',
    })
    expect(socket.notifications).toHaveLength(0)
    expect((await socket.call('eth_subscribe', ['newStuff'])).error).toEqual({
      code: -32601,
      message: 'no "newStuff" subscription in eth namespace',
    })
    expect((await socket.call('eth_subscribe', ['logs', { address: '0x1' }])).error?.message).toMatch(
      /^invalid argument 2: /,
    )
    expect((await socket.call('eth_subscribe', [])).error?.code).toBe(-32602)
    expect(await rig.failure('eth_subscribe', ['newHeads'])).toBe('-32000 notifications not supported')
  })

  test('uses the prefix of the namespace that was called', async () => {
    await start()
    const socket = await open()
    await socket.result('native_subscribe', ['newHeads'])
    rig.chain.append()
    expect((await socket.until(1))[0]?.method).toBe('native_subscription')
  })

  test('sends the id before the first notification, also out of a batch that waits', async () => {
    await start()
    let answerCall = () => {}
    const waiting = new Promise<void>(resolve => {
      answerCall = resolve
    })
    rig.calls.call = async () => {
      await waiting
      return { output: new Uint8Array(0), gasUsed: 0n }
    }
    const socket = await open()
    socket.raw.send(
      '[{"id":"s","method":"eth_subscribe","params":["newHeads"]},{"id":"c","method":"eth_call","params":[{"data":"0x00"},"latest"]}]',
    )
    // A single call on the same socket comes back first and must not let the batch's subscription loose.
    await socket.result('eth_chainId')
    rig.chain.append()
    rig.chain.append()
    await socket.result('eth_chainId')
    expect(socket.notifications).toHaveLength(0)
    answerCall()
    await socket.until(2)
    const order = socket.frames.map(frame => (Array.isArray(frame) ? 'batch' : 'method' in frame ? 'head' : 'answer'))
    expect(order).toEqual(['answer', 'answer', 'batch', 'head', 'head'])
  })

  test('starts nothing for a request without an id, which could never be ended', async () => {
    await start()
    const socket = await open()
    socket.raw.send('{"method":"eth_subscribe","params":["newHeads"]}')
    socket.raw.send('[{"method":"native_subscribe","params":["newHeads"]}]')
    await socket.result('eth_chainId')
    rig.chain.append()
    await socket.result('eth_chainId')
    expect(socket.notifications).toEqual([])
  })

  test('bounds the subscriptions of a socket', async () => {
    await start()
    const socket = await open()
    const most = RPC_LIMITS.subscriptionsPerSocket
    await Promise.all(Array.from({ length: most }, () => socket.call('eth_subscribe', ['syncing'])))
    expect((await socket.call('eth_subscribe', ['syncing'])).error?.message).toBe(
      `Maximum ${most} subscriptions are allowed for a websocket connection.`,
    )
  })

  test('reaches 300 subscribers without loss', async () => {
    await start()
    const all = await Promise.all(Array.from({ length: 300 }, () => open()))
    await Promise.all(all.map(socket => socket.result('eth_subscribe', ['newHeads'])))
    for (let i = 0; i < 5; i++) rig.chain.append()
    for (const socket of all) {
      const heads = await socket.until(5)
      expect(heads.map(({ params }) => (params.result as { number: string }).number)).toEqual([
        '0x1',
        '0x2',
        '0x3',
        '0x4',
        '0x5',
      ])
    }
  })

  test('drops who does not read', async () => {
    await start()
    const socket = await open()
    await socket.result('eth_subscribe', ['newPendingTransactions', true])
    socket.raw.pause()
    const transaction = signedTransaction({ nonce: 0, data: new Uint8Array(100_000) })
    for (let i = 0; i < 200; i++) rig.pool.add(transaction)
    await eventually('it is dropped', async () => (rig.server.budgets.sockets.held === 0 ? true : undefined))
    socket.raw.resume()
    expect([1006, 1013]).toContain(await socket.closed)
    // The others are not disturbed.
    expect(await (await open()).result('eth_chainId')).toBe('0x134fe69')
  })

  test('gives an answer larger than what may wait unread', async () => {
    await start()
    const socket = await open()
    rig.calls.call = async () => ({ output: Buffer.alloc(RPC_LIMITS.socketBacklogBytes / 2 + 1_000_000), gasUsed: 0n })
    const output = await socket.result<string>('eth_call', [{ to: TOKEN }, 'latest'])
    expect(output.length).toBeGreaterThan(RPC_LIMITS.socketBacklogBytes)
    expect(await socket.result('eth_chainId')).toBe('0x134fe69')
  })
})

test('closes with 1001 when the node stops', async () => {
  await start()
  const socket = await open()
  await socket.result('eth_subscribe', ['newHeads'])
  await rig.stop()
  expect(await socket.closed).toBe(1001)
})

describe('a connection that is gone', () => {
  test('leaves no subscription behind, also by a batch that goes on without it', async () => {
    await start()
    const hub = hubOn({ view: rig.chain, pool: rig.pool })
    const socketSession = hub.open(() => {})
    const messageScope = socketSession.scope()
    messageScope.subscribe('eth', { kind: 'newHeads' })
    socketSession.close()
    expect(() => messageScope.subscribe('eth', { kind: 'newHeads' })).toThrow('connection closed')
    expect(hub.size).toBe(0)
    hub.close()
  })

  test('is held nothing back for beyond what it may leave unread', async () => {
    await start()
    const hub = hubOn({ view: rig.chain, pool: rig.pool })
    let bytes = 0
    let told = 0
    let last: string | undefined
    const socketSession = hub.open(frame => {
      if (last !== undefined && frame.includes(last)) told++
      else bytes += frame.byteLength
    })
    const messageScope = socketSession.scope()
    for (let i = 0; i < 1_000; i++) messageScope.subscribe('eth', { kind: 'newHeads' })
    // Told after the others, and nothing of it is held back.
    const lastScope = socketSession.scope()
    last = lastScope.subscribe('eth', { kind: 'newHeads' })
    lastScope.release()
    for (let i = 0; i < 40; i++) rig.chain.append()
    await eventually('all blocks are told', async () => (told === 40 ? true : undefined))
    messageScope.release()
    expect(bytes).toBeLessThanOrEqual(RPC_LIMITS.socketBacklogBytes)
    expect(bytes).toBeGreaterThan(RPC_LIMITS.socketBacklogBytes / 2)
    socketSession.close()
    hub.close()
  })
})
