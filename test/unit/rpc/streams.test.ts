import { once } from 'node:events'
import { connect } from 'node:net'
import { PassThrough, Writable } from 'node:stream'
import { type ChunkStream, StreamBroken } from '@tandem/base/async/chunk-stream.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { RPC_LIMITS } from '../../../src/config/limits/clients.ts'
import { NETWORKS } from '../../../src/config/networks.ts'
import type { TraceAnswer, TracePort } from '../../../src/rpc/ports.ts'
import type { ResponseChunk } from '../../../src/rpc/router/response.ts'
import { WriteTimeout, writeStream } from '../../../src/rpc/transport/stream-writer.ts'
import { type Answer, Rig } from '../../support/rpc/rig.ts'
import { Socket } from '../../support/rpc/socket.ts'

/** A trace whose pieces come when the test says so. */
class Source implements TraceAnswer {
  readonly #pieces: (Uint8Array | Error | undefined)[] = []
  #waiting: (() => void) | undefined
  asked = 0
  isCancelled = false

  push(...pieces: (string | Error | undefined)[]): this {
    this.#pieces.push(...pieces.map(piece => (typeof piece === 'string' ? Buffer.from(piece) : piece)))
    this.#waiting?.()
    return this
  }

  async next(): Promise<Uint8Array | undefined> {
    this.asked++
    while (this.#pieces.length === 0 && !this.isCancelled)
      await new Promise<void>(resolve => {
        this.#waiting = resolve
      })
    const piece = this.#pieces.shift()
    if (piece instanceof Error) throw piece
    return piece
  }

  cancel(): void {
    this.isCancelled = true
    this.#waiting?.()
  }
}

/** Of all that a server opened, in order. */
let sources: Source[]
let make: () => Source
let rig: Rig

beforeEach(async () => {
  sources = []
  make = () => new Source()
  const open = (): Source => {
    const source = make()
    sources.push(source)
    return source
  }
  const trace: TracePort = {
    transaction: open,
    block: open,
    call: open,
    storageRange: open,
    accountRange: open,
    modifiedAccounts: open,
  }
  const names = ['debug', 'eth']
  rig = await Rig.start({ network: NETWORKS.devnet, namespaces: { http: names, ws: names }, trace })
  rig.chain.append()
})
afterEach(() => rig.stop())

const FAILURE = new CodedError({ code: 'TRACE_TIMEOUT', timeoutMs: 1_000 })
/** The beginning of a list, longer than what is held. */
const LONG = `[1${' '.repeat(RPC_LIMITS.streamHeldBytes)}`
const FAILED = { code: -32000, message: 'execution timeout (timeout = 1s)' }

const request = (id: number, method = 'debug_traceBlockByNumber') =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params: method === 'eth_blockNumber' ? [] : ['0x1'] })

const fetchText = async (body: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(rig.url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })

const until = async (what: () => boolean): Promise<void> => {
  while (!what()) await new Promise(resolve => setTimeout(resolve, 2))
}

describe.each([
  ['HTTP', {}],
  ['HTTP, for a page', { origin: 'http://page.example' }],
])('over %s', (_, headers) => {
  test('an answer comes in pieces, before it is whole', async () => {
    const response = await fetchText(request(7), headers)
    expect(response.headers.get('transfer-encoding')).toBe('chunked')
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    sources[0]?.push(LONG, ',2')
    let text = ''
    while (!text.endsWith(',2')) text += Buffer.from((await reader.read()).value as Uint8Array).toString()
    expect(text).toBe(`{"jsonrpc":"2.0","id":7,"result":${LONG},2`)
    sources[0]?.push(',3]', undefined)
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += Buffer.from(part.value).toString()
    expect(JSON.parse(text)).toEqual({ jsonrpc: '2.0', id: 7, result: [1, 2, 3] })
  })

  test('the connection serves the next request', async () => {
    make = () => new Source().push('"é"', undefined)
    for (let id = 0; id < 3; id++)
      expect(await (await fetchText(request(id), headers)).json()).toMatchObject({ id, result: 'é' })
  })

  test('a failure before the first piece is an error and nothing else', async () => {
    make = () => new Source().push(FAILURE)
    expect(await (await fetchText(request(1), headers)).json()).toEqual({ jsonrpc: '2.0', id: 1, error: FAILED })
  })

  test('a failure in the held beginning is an error and nothing else', async () => {
    for (const pieces of [
      ['[1', ']', FAILURE],
      ['[1,{"a":', new StreamBroken('its worker ended', { cause: FAILURE })],
    ]) {
      make = () => new Source().push(...pieces)
      expect(await (await fetchText(request(1), headers)).json()).toEqual({ jsonrpc: '2.0', id: 1, error: FAILED })
    }
  })

  test('a failure after it breaks the connection: never a result and an error', async () => {
    for (const failure of [FAILURE, new StreamBroken('its worker ended', { cause: FAILURE })]) {
      make = () => new Source().push(LONG, ',2', failure)
      let text = ''
      const reading = async (): Promise<void> => {
        const { body } = await fetchText(request(1), headers)
        for await (const part of body as ReadableStream<Uint8Array>) text += Buffer.from(part).toString()
      }
      await expect(reading()).rejects.toThrow()
      expect(text).not.toContain('"error"')
    }
  })

  test('a client that disconnects ends it', async () => {
    const aborter = new AbortController()
    const response = await fetch(rig.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: request(1),
      signal: aborter.signal,
    })
    expect(response.status).toBe(200)
    aborter.abort()
    await until(() => sources[0]?.isCancelled === true)
  })
})

describe('in a batch', () => {
  test('answers keep their order, and each begins when the one before has ended', async () => {
    const body = `[${[request(1), request(2, 'eth_blockNumber'), request(3), '{"method":"debug_traceBlockByNumber","params":["0x1"]}'].join(',')}]`
    const response = fetchText(body).then(answer => answer.json() as Promise<Answer[]>)
    await until(() => sources[0] !== undefined && sources[0].asked > 0)
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(sources.length).toBe(1)
    sources[0]?.push('[1]', undefined)
    await until(() => sources.length === 2)
    sources[1]?.push(FAILURE)
    expect(await response).toEqual([
      { jsonrpc: '2.0', id: 1, result: [1] },
      { jsonrpc: '2.0', id: 2, result: '0x1' },
      { jsonrpc: '2.0', id: 3, error: FAILED },
    ])
    // The notification asked for nothing.
    expect(sources.length).toBe(2)
  })

  test('nothing of it begins when the client is gone', async () => {
    const { port } = rig.server
    const socket = connect(port, '127.0.0.1')
    const body = `[${request(1)},${request(2)}]`
    socket.write(
      `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    await once(socket, 'data')
    socket.destroy()
    await until(() => sources[0]?.isCancelled === true)
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(sources.length).toBe(1)
  })
})

describe('over a WebSocket', () => {
  const url = (): string => `ws://127.0.0.1:${rig.server.port}/ws`

  test('an answer is one message, and what comes meanwhile waits', async () => {
    const socket = await Socket.open(url())
    const subscription = await socket.result<string>('eth_subscribe', ['newHeads'])
    const traced = socket.result('debug_traceBlockByNumber', ['0x1'])
    await until(() => (sources[0]?.asked ?? 0) > 0)
    sources[0]?.push('[1')
    rig.chain.append()
    const other = socket.result('eth_blockNumber')
    const second = socket.result('debug_traceBlockByNumber', ['0x1'])
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(socket.notifications.length).toBe(0)
    sources[0]?.push(',2]', undefined)
    expect(await traced).toEqual([1, 2])
    expect((await socket.until(1))[0]?.params.subscription).toBe(subscription)
    expect(await other).toBe('0x2')
    await until(() => sources.length === 2)
    sources[1]?.push('"x"', undefined)
    expect(await second).toBe('x')
    socket.close()
  })

  test('an answer that breaks within a value closes the socket', async () => {
    make = () => new Source().push(LONG, ',{"a":', FAILURE)
    const socket = await Socket.open(url())
    void socket.call('debug_traceBlockByNumber', ['0x1'])
    expect(await socket.closed).toBe(1013)
  })

  test('a closed socket ends what it was sent and what it waited for', async () => {
    const socket = await Socket.open(url())
    // Neither is answered.
    void socket.call('debug_traceBlockByNumber', ['0x1'])
    void socket.call('debug_traceBlockByNumber', ['0x1'])
    await until(() => (sources[0]?.asked ?? 0) > 0)
    socket.close()
    await until(() => sources[0]?.isCancelled === true)
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(sources.length).toBe(1)
  })
})

describe('a slow reader', () => {
  const endless = (): ChunkStream<ResponseChunk> & { isCancelled: boolean } => {
    const stream = {
      isCancelled: false,
      next: async () => (stream.isCancelled ? undefined : 'x'.repeat(1_000)),
      cancel: () => {
        stream.isCancelled = true
      },
    }
    return stream
  }

  test('that takes nothing is dropped', async () => {
    const stream = endless()
    const out = new Writable({ write: () => {}, highWaterMark: 1 })
    expect(await writeStream(stream, out, { writeTimeout: new WriteTimeout({ stallMs: 20, bytesPerMs: 1 }) })).toBe(
      false,
    )
    expect([out.destroyed, stream.isCancelled]).toEqual([true, true])
  })

  test('that trickles is dropped in the end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const stream = endless()
    let taken = 0
    const out = new Writable({
      write(_chunk, _encoding, done) {
        taken++
        setTimeout(done, 10)
      },
      highWaterMark: 1,
    })
    // Each piece of 1,000 bytes earns 1 ms and costs 10.
    const writeTimeout = new WriteTimeout({ stallMs: 400, bytesPerMs: 1_000 })
    let isWhole: boolean | undefined
    void writeStream(stream, out, { writeTimeout }).then(ended => (isWhole = ended))
    for (let turn = 0; turn < 100 && isWhole === undefined; turn++) await vi.advanceTimersByTimeAsync(10)
    expect(isWhole).toBe(false)
    expect(taken).toBeGreaterThan(40)
  })

  test('that keeps up is served to the end', async () => {
    const out = new PassThrough()
    const pieces = ['a', 'b', 'c']
    const stream = { next: async () => pieces.shift(), cancel: () => {} }
    expect(await writeStream(stream, out)).toBe(true)
    out.end()
    expect(String(await out.toArray().then(parts => Buffer.concat(parts)))).toBe('abc')
  })
})
