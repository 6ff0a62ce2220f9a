import { ask, batchOf, call, dial, ended, exchange, MOST, post, pour } from './http.ts'
import { type Attack, count, idle, lanes, type Scene } from './scene.ts'

const HEADS: readonly ((size: number) => string)[] = [
  size => `x:${' '.repeat(size)}\x01`,
  size => `x:${'\t'.repeat(size)}\x7f`,
  size => `host:${' '.repeat(size)}`,
  size => `content-type: application/json${' '.repeat(size)}x`,
  size => `content-length: ${'1'.repeat(size)}`,
  size => 'a:b\r\n'.repeat(size / 5).trim(),
  size => ':'.repeat(size),
  size => `x: ${'\\"'.repeat(size / 2)}`,
]

/** Heads that are slow to read for whoever tries again from every place, in one piece and a byte at a time. */
export const heads: Attack = scene =>
  lanes(scene, 8, async lane => {
    const head = HEADS[scene.random.below(HEADS.length)] as (typeof HEADS)[number]
    const size = [60_000, 15_000, 200_000][lane % 3] as number
    const answer = await exchange(scene, `POST / HTTP/1.1\r\n${head(size)}\r\n\r\n`, 2_000)
    count(scene, `status ${answer.status}`)
  })

/** JSON of five megabytes that is much work for parsers, scanners or whoever writes it back. */
const BODIES: readonly (() => string | Uint8Array)[] = [
  () => '{"a":'.repeat(MOST / 5),
  () => '['.repeat(MOST),
  () => `[${'[],'.repeat(MOST / 3 - 2)}[]]`,
  () => `{"jsonrpc":"2.0","method":"eth_chainId","id":"${'x'.repeat(MOST - 100)}"}`,
  () =>
    Buffer.concat([Buffer.from('{"method":"eth_chainId","id":"'), Buffer.alloc(MOST - 100, 0xff), Buffer.from('"}')]),
  () => `{"id":1,"method":"${'m'.repeat(MOST - 100)}"}`,
  () => `{"id":1,"method":"eth_chainId","params":["${'\\u0000'.repeat(MOST / 6 - 20)}"]}`,
  () => `{"id":1,"method":"eth_chainId","params":["${'\\\\'.repeat(MOST / 2 - 50)}"]}`,
  () => `{"id":1${Array.from({ length: 120_000 }, (_, i) => `,"k${i}":${i}`).join('')},"method":"eth_chainId"}`,
  () => `{"id":1${Array.from({ length: 120_000 }, (_, i) => `,"${i * 4_096}":1`).join('')},"method":"eth_chainId"}`,
  () => `{${'"id":1,'.repeat(120_000)}"method":"eth_chainId"}`,
  () => `{"${'k'.repeat(MOST - 100)}":1,"id":1,"method":"eth_chainId"}`,
  () => `{"id":${'9'.repeat(MOST - 100)},"method":"eth_chainId"}`,
  () => `{"id":1e${'0'.repeat(MOST - 100)}1,"method":"eth_chainId"}`,
  () => `[${Array.from({ length: 990 }, (_, i) => `{"id":1.${i},"method":"${'e'.repeat(5_000)}"}`).join(',')}]`,
  () => ' '.repeat(MOST),
  () => call('eth_sendRawTransaction', [`0x${'ff'.repeat(MOST / 2 - 100)}`]),
  () => call('eth_call', [{ to: `0x${'11'.repeat(20)}`, data: `0x${'00'.repeat(MOST / 2 - 200)}` }, 'latest']),
  () => batchOf(1_000, id => call('eth_getBalance', [`0x${'11'.repeat(20)}`, 'latest', 'x'.repeat(5_000)], id)),
]

export const bodies: Attack = scene =>
  lanes(scene, 6, async () => ask(scene, (BODIES[scene.random.below(BODIES.length)] as () => string)()))

/** Many at once that are nearly whole, and stay so. */
export const halfBodies: Attack = scene =>
  lanes(scene, 200, async lane => {
    const socket = await dial(scene)
    socket.resume()
    const size = lane % 10 === 0 ? MOST : 32_000
    await pour(socket, post(' '.repeat(size)).subarray(0, -1))
    await Promise.race([ended(socket), idle(scene, 5_000)])
    socket.destroy()
    count(scene, 'held')
  })

/** A body in chunks of one byte, which costs whoever keeps each of them. */
const inBytes = (length: number): string => '1\r\n \r\n'.repeat(length)

export const trickles: Attack = scene =>
  lanes(scene, 20, async lane => {
    const socket = await dial(scene)
    socket.resume()
    const head = 'POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n'
    if (lane % 2 === 0) {
      await pour(socket, `${head}transfer-encoding: chunked\r\n\r\n`)
      for (let i = 0; i < 50 && !socket.destroyed; i++) await pour(socket, inBytes(20_000))
    } else {
      const bytes = `${head}content-length: 1000\r\n\r\n${' '.repeat(1_000)}`
      for (let at = 0; at < bytes.length && !socket.destroyed; at++) {
        await pour(socket, bytes.slice(at, at + 1))
        await idle(scene, 5)
      }
    }
    socket.destroy()
    count(scene, 'sent')
  })

const OK = call('eth_chainId', [])

/** Requests that two readers of HTTP may understand differently, odd encodings, odd paths. */
const ODD: readonly string[] = [
  `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 5\r\ncontent-length: ${OK.length}\r\n\r\n${OK}`,
  `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /admin HTTP/1.1\r\n\r\n`,
  `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding : chunked\r\ncontent-length: ${OK.length}\r\n\r\n${OK}`,
  `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: xchunked\r\ncontent-length: ${OK.length}\r\n\r\n${OK}`,
  `POST / HTTP/1.1\r\nhost: 127.0.0.1\nx: y\r\ncontent-type: application/json\r\ncontent-length: ${OK.length}\r\n\r\n${OK}`,
  `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${OK.length}\r\n\r\n${OK}`,
  `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json; charset=utf-16\r\ncontent-length: ${OK.length}\r\n\r\n${OK}`,
  `POST /%2e%2e/%00 HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${OK.length}\r\n\r\n${OK}`,
  `GET /health%2f..%2fmetrics HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`,
  `GET ${'/a'.repeat(7_000)} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`,
  `GET /%${'25'.repeat(3_000)} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`,
  `OPTIONS * HTTP/1.1\r\nhost: 127.0.0.1\r\norigin: ${'http://a'.repeat(500)}\r\n\r\n`,
  `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\nexpect: 100-continue\r\ncontent-type: application/json\r\ncontent-length: 5000000\r\n\r\n`,
  `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n`,
  `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5;${'x'.repeat(60_000)}\r\n`,
  `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
]

export const oddities: Attack = scene =>
  lanes(scene, 8, async () => {
    const answer = await exchange(scene, Buffer.from(ODD[scene.random.below(ODD.length)] as string, 'latin1'), 500)
    count(scene, `status ${answer.status}`)
  })

const opened = async (scene: Scene, bytes: string): Promise<void> => {
  const socket = await dial(scene)
  socket.resume()
  await pour(socket, bytes)
  await Promise.race([ended(socket), idle(scene, 3_000)])
  socket.destroy()
}

/** Connections that come and go, say nothing, or half a line. */
export const connections: Attack = scene =>
  lanes(scene, 400, async lane => {
    await opened(scene, ['', 'POST / HT', 'POST / HTTP/1.1\r\nhost: 127.0.0.1\r\n', '\r\n'][lane % 4] as string)
    count(scene, 'opened')
  })

/** Hundreds of requests in one piece, again and again, on a connection that reads. */
export const pipelines: Attack = scene =>
  lanes(scene, 8, async () => {
    const many = Buffer.concat(
      Array.from({ length: 400 }, (_, i) =>
        post(call(['rpc.discover', 'eth_getBlockByNumber', 'eth_chainId'][i % 3] as string, ['latest', true], i)),
      ),
    )
    const socket = await dial(scene)
    socket.resume()
    for (let i = 0; i < 20; i++) await pour(socket, many)
    await Promise.race([ended(socket), idle(scene, 1_000)])
    socket.destroy()
    count(scene, 'poured')
  })

/** The cheapest pages, as fast as they come. */
export const pages: Attack = scene =>
  lanes(scene, 8, async () => {
    await exchange(
      scene,
      `GET ${['/health', '/', '/nowhere'][scene.random.below(3)]} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`,
    )
    count(scene, 'answered')
  })
