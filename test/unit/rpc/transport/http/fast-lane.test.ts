import { EventEmitter } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../../../src/config/limits/clients.ts'
import { createBudgets } from '../../../../../src/rpc/transport/clients/budgets.ts'
import { Clients } from '../../../../../src/rpc/transport/clients/clients.ts'
import { attachFastLane } from '../../../../../src/rpc/transport/http/fast-lane.ts'
import { readPlainHead } from '../../../../../src/rpc/transport/http/plain-head.ts'
import { Rig } from '../../../../support/rpc/rig.ts'

const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
const ANSWER = '{"jsonrpc":"2.0","id":1,"result":"0x134fe69"}'
const post = (body: string, extra = ''): string =>
  `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${extra}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

let rig: Rig
let socket: Socket
let received = ''
beforeEach(async () => {
  rig = await Rig.start()
  received = ''
  socket = connect({ port: rig.server.port, host: '127.0.0.1', noDelay: true })
  socket.on('data', data => {
    received += String(data)
  })
  socket.on('error', () => {})
  await new Promise(resolve => socket.once('connect', resolve))
})
afterEach(async () => {
  socket.destroy()
  await rig.stop()
})

const until = async (done: () => boolean): Promise<void> => {
  const deadline = performance.now() + 15_000
  while (!done()) {
    if (performance.now() > deadline) throw new Error(`received: ${received.slice(0, 500)}`)
    await new Promise(resolve => setTimeout(resolve, 2))
  }
}
const count = (text: string): number => received.split(text).length - 1
const statuses = (): string[] => [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(match => match[1] ?? '')
const pause = () => new Promise(resolve => setTimeout(resolve, 5))

describe('the head of a plain call', () => {
  const head = (...fields: string[]): string => ['POST / HTTP/1.1', ...fields].join('\r\n')
  const good = [
    'Host: x',
    'content-type: application/json; charset=utf-8',
    'Content-Length:  12 ',
    'X-Any: thing',
    'Connection: Keep-Alive',
  ]

  test('has a length', () => {
    expect(readPlainHead(head(...good), ['*'])).toEqual({ isPreflight: false, length: 12, headers: {} })
    expect(readPlainHead(head(...good), ['x'])?.length).toBe(12)
    expect(readPlainHead(head(...good), ['y'])).toBeUndefined()
  })
  test.each([
    ['no host', good.slice(1)],
    ['two hosts', [...good, 'Host: y']],
    ['no type', ['Host: x', 'Content-Length: 1']],
    ['another type', ['Host: x', 'Content-Type: application/jsonx', 'Content-Length: 1']],
    ['two types', [...good, 'Content-Type: text/plain']],
    ['no length', good.slice(0, 2)],
    ['two lengths', [...good, 'Content-Length: 12']],
    ['a signed length', ['Host: x', 'Content-Type: application/json', 'Content-Length: +1']],
    ['a hex length', ['Host: x', 'Content-Type: application/json', 'Content-Length: 0x1']],
    ['a list of lengths', ['Host: x', 'Content-Type: application/json', 'Content-Length: 1, 1']],
    [
      'a length beyond the limit',
      ['Host: x', 'Content-Type: application/json', `Content-Length: ${RPC_LIMITS.bodyBytes + 1}`],
    ],
    ['chunks', [...good, 'Transfer-Encoding: chunked']],
    ['chunks with a space before the colon', [...good, 'Transfer-Encoding : chunked']],
    ['a folded line', [...good, ' folded']],
    ['a bare line feed', [...good, 'X: a\nTransfer-Encoding: chunked']],
    ['a bare carriage return', [...good, 'X: a\rTransfer-Encoding: chunked']],
    ['a zero byte', [...good, 'X: a\0']],
    ['a blank that is none behind the length', ['Host: x', 'Content-Type: application/json', 'Content-Length: 1\xa0']],
    ['no name', [...good, ': x']],
    ['a name beyond ASCII', [...good, 'X\xe9: x']],
    ['two origins', [...good, 'Origin: http://x', 'origin: http://x']],
    ['an origin beyond ASCII', [...good, 'Origin: http://\xe9']],
    ['an origin with a blank', [...good, 'Origin: http://x http://y']],
    ['an upgrade', [...good, 'Upgrade: websocket']],
    ['an end of the connection', [...good.slice(0, 4), 'Connection: close']],
    ['an expectation', [...good, 'Expect: 100-continue']],
  ])('has none with %s', (_, fields) => {
    expect(readPlainHead(head(...fields), ['*'])).toBeUndefined()
  })
  test('names the page that calls, and is read for the preflight of a browser', () => {
    expect(readPlainHead(head(...good, 'Origin:  http://x '), ['*'])?.origin).toBe('http://x')
    const preflight = (...fields: string[]) =>
      readPlainHead(['OPTIONS / HTTP/1.1', 'Host: x', ...fields].join('\r\n'), ['*'])
    expect(preflight('Origin: null', 'Access-Control-Request-Method: POST')).toEqual({
      ...{ isPreflight: true, length: 0, origin: 'null', headers: {} },
    })
    expect(preflight('Content-Length: 0')).toBeUndefined()
    expect(preflight('Content-Type: application/json')).toBeUndefined()
    expect(preflight('Transfer-Encoding: chunked')).toBeUndefined()
  })
  test.each([
    'OPTIONS * HTTP/1.1',
    'GET / HTTP/1.1',
    'POST / HTTP/1.0',
    'POST /ws HTTP/1.1',
    'POST http://x/ HTTP/1.1',
    'post / HTTP/1.1',
    'POST  / HTTP/1.1',
  ])('has none in %s', line => {
    expect(readPlainHead([line, ...good].join('\r\n'), ['*'])).toBeUndefined()
  })
})

describe('a head made to be slow to read', () => {
  const size = 60_000
  // A hundred of each took minutes with a regular expression that tries again from every blank.
  test.each([
    ['blanks before a control character', `x:${' '.repeat(size)}\x01`],
    ['tabs before a control character', `x:${'\t'.repeat(size)}\x7f`],
    ['blanks around a letter', `x:${' '.repeat(size / 2)}y${' '.repeat(size / 2)}\0`],
    ['a name without a colon', 'x'.repeat(size)],
    ['blanks behind a type', `Content-Type: application/json${' '.repeat(size)}x`],
    ['blanks behind a length', `Content-Length: 1${' '.repeat(size)}x`],
    ['brackets for a host', `Host: ${'['.repeat(size)}`],
    ['colons for a host', `Host: ${':'.repeat(size)}`],
    ['many fields', 'x:y\r\n'.repeat(size / 5).slice(0, -2)],
    ['many bare line ends', '\r'.repeat(size)],
  ])('%s', (_, fields) => {
    for (let i = 0; i < 100; i++) expect(readPlainHead(`POST / HTTP/1.1\r\n${fields}`, ['localhost'])).toBeUndefined()
  })

  test('is refused by the full server when it is longer than any honest one, and others are served', async () => {
    const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nx:${' '.repeat(size)}\x01\r\n\r\n`
    socket.write(head)
    await until(() => statuses().length === 1)
    expect(statuses()[0]).toMatch(/^4(00|31)$/)
    expect(await rig.result('eth_chainId')).toBe('0x134fe69')
  })
})

describe('one connection', () => {
  test('answers pipelined calls in order, those that wait too', async () => {
    const slow = '{"jsonrpc":"2.0","id":2,"method":"eth_feeHistory","params":[1,"latest"]}'
    socket.write(post(CALL) + post(slow) + post(CALL) + post(slow) + post('{'))
    await until(() => statuses().length === 5)
    const bodies = received
      .split(/HTTP\/1\.1 200 OK/)
      .slice(1)
      .map(text => text.split('\r\n\r\n')[1])
    expect(bodies[0]).toBe(ANSWER)
    expect(bodies[1]).toContain('"id":2')
    expect(bodies[2]).toBe(ANSWER)
    expect(bodies[4]).toContain('-32700')
  })

  test('puts a call together however it is cut', async () => {
    const text = post('{"jsonrpc":"2.0","id":"é€😀","method":"eth_chainId"}')
    const bytes = Buffer.from(text)
    for (const size of [1, 7, 64, bytes.byteLength - 1]) {
      received = ''
      for (let at = 0; at < bytes.byteLength; at += size) {
        socket.write(bytes.subarray(at, at + size))
        await new Promise(resolve => setImmediate(resolve))
      }
      await until(() => received.includes('"result":"0x134fe69"'))
      expect(received).toContain('"id":"é€😀"')
    }
  })

  test('counts bytes, not characters, in the answer', async () => {
    socket.write(post('{"id":"é€😀","method":"eth_chainId"}') + post(CALL))
    await until(() => count('"result"') === 2)
    expect(statuses()).toEqual(['200', '200'])
  })

  test('changes to the full server at the first other request, and loses nothing', async () => {
    socket.write(`${post(CALL)}GET /health HTTP/1.1\r\nHost: x\r\n\r\n${post(CALL)}`)
    await until(() => statuses().length === 3)
    expect(statuses()).toEqual(['200', '200', '200'])
    expect(count(ANSWER)).toBe(2)
    expect(received).toContain('"healthy":true')
    socket.write('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n')
    await until(() => statuses().length === 4)
    expect(statuses()[3]).toBe('405')
  })

  test('changes also behind a call that is being answered, and in the middle of a head', async () => {
    const slow = '{"jsonrpc":"2.0","id":2,"method":"eth_feeHistory","params":[1,"latest"]}'
    socket.write(`${post(slow)}GET /he`)
    await pause()
    socket.write('alth HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(() => statuses().length === 2)
    expect(received.indexOf('"id":2')).toBeLessThan(received.indexOf('healthy'))
  })

  test('takes chunks, expectations and a wrong type as the full server does', async () => {
    const chunked = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${CALL.length.toString(16)}\r\n${CALL}\r\n0\r\n\r\n`
    socket.write(chunked)
    await until(() => count(ANSWER) === 1)
    socket.write(post('x').replace('application/json', 'text/plain'))
    await until(() => statuses().includes('415'))
  })

  test('refuses a request that two readers could understand differently', async () => {
    socket.write(post(CALL, 'Content-Length: 3\r\n'))
    await until(() => statuses().length === 1)
    expect(statuses()).toEqual(['400'])
  })

  test('closes behind a client that has finished sending', async () => {
    const slow = '{"jsonrpc":"2.0","id":2,"method":"eth_feeHistory","params":[1,"latest"]}'
    socket.end(post(CALL) + post(slow))
    const closed = new Promise(resolve => socket.once('close', resolve))
    await closed
    expect(statuses()).toEqual(['200', '200'])
  })

  test('holds back a client that does not read', async () => {
    const raw = Buffer.alloc(100_000, 1)
    rig.chain.codes.set(`0x${'cd'.repeat(20)}`, raw)
    const code = post(`{"id":1,"method":"eth_getCode","params":["0x${'cd'.repeat(20)}","latest"]}`)
    const calls = 200
    socket.pause()
    for (let i = 0; i < calls; i++) socket.write(code)
    await new Promise(resolve => setTimeout(resolve, 200))
    let bytes = 0
    socket.on('data', data => {
      bytes += data.length
    })
    socket.resume()
    await until(() => bytes > calls * 200_000)
    expect(statuses()).toHaveLength(calls)
  })
})

describe('bytes that come before the answer', () => {
  test('are left in the socket beyond a little: each further chunk would copy all of them', async () => {
    let finish: (answer: string) => void = () => {}
    const answer = new Promise<string>(resolve => {
      finish = resolve
    })
    const server = new EventEmitter()
    server.on('connection', () => {})
    attachFastLane(server as never, {
      gate: { handle: () => answer } as never,
      endpoint: { methods: new Map(), context: {} as never },
      hosts: ['*'],
      cors: [],
      checkOrigin: false,
      clients: new Clients({}),
      budgets: createBudgets(),
    })
    const peer = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
    Object.assign(peer, { setNoDelay() {}, setTimeout() {} })
    server.emit('connection', peer)
    peer.push(post(CALL))
    await pause()
    peer.push(Buffer.alloc(RPC_LIMITS.laneAheadBytes + 1))
    await pause()
    expect(peer.isPaused()).toBe(true)
    finish(ANSWER)
    await pause()
    expect(peer.isPaused()).toBe(false)
    peer.destroy()
  })
})
