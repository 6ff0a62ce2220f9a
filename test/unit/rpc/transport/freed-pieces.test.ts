import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { freeBytes } from '@tandem/base/bytes.ts'
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { eventually } from '../../../support/node-process.ts'
import { Rig } from '../../../support/rpc/rig.ts'

let rig: Rig | undefined
afterEach(() => rig?.stop())

const ITEM = `"${'a'.repeat(100_000)}"`
const REQUEST = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'eth_getLogs',
  params: [{ fromBlock: '0x0', toBlock: 'latest' }],
})

/** A server with a long answer in pieces. */
const answering = async () => {
  const pieces = ['[', `${ITEM},`, `${ITEM},`, ITEM, ']'].map(text => new TextEncoder().encode(text).slice())
  rig = await Rig.start({ logQueryPort: { text: async () => pieces } })
  rig.chain.append()
  const areFree = () =>
    eventually('memory is free', async () => pieces.every(({ byteLength }) => byteLength === 0) || undefined)
  return { port: rig.server.port, areFree }
}

test.each([
  ['a body of known length', `content-length: ${REQUEST.length}\r\n\r\n${REQUEST}`],
  ['a body in chunks', `transfer-encoding: chunked\r\n\r\n${REQUEST.length.toString(16)}\r\n${REQUEST}\r\n0\r\n\r\n`],
])(
  '%s: HTTP returns the memory of the pieces of an answer when they are written, without a garbage collection',
  async (_, rest) => {
    const { port, areFree } = await answering()
    const socket = connect({ host: '127.0.0.1', port })
    let text = ''
    socket.on('data', data => {
      text += String(data)
    })
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${rest}`)
    // Its length is known before it is written.
    await eventually('the end of the answer', async () => text.endsWith(']}') || undefined)
    socket.destroy()
    const [head, body] = text.split('\r\n\r\n') as [string, string]
    expect(head).toContain(`content-length: ${body.length}`)
    expect(text.match(/a{1000}/g)?.length).toBeGreaterThan(250)
    await areFree()
  },
)

test('a WebSocket returns the memory of the pieces of an answer when they are written', async () => {
  const { port, areFree } = await answering()
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`)
  await once(socket, 'open')
  socket.send(REQUEST)
  const [answer] = await once(socket, 'message')
  expect(JSON.parse(String(answer)).result).toHaveLength(3)
  await areFree()
  socket.terminate()
})

test('a pipelined response that there is no room for ends its connection', async () => {
  const text = `"${'a'.repeat(3_000_000)}"`
  const pieces = () => [new TextEncoder().encode(`[${text}]`)]
  rig = await Rig.start({ logQueryPort: { text: async () => pieces() } })
  rig.chain.append()
  const socket = connect({ host: '127.0.0.1', port: rig.server.port })
  const closed = once(socket, 'close')
  socket.on('error', () => {})
  const head = `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${REQUEST.length}\r\n\r\n`
  // More than a client's unread responses may take, of which it reads none for a while.
  socket.write(`${head}${REQUEST}`.repeat(14))
  await delay(1_500)
  socket.resume()
  await closed
})

test('bytes that share their memory with others stay', () => {
  const all = new Uint8Array(100)
  freeBytes(all.subarray(10, 20))
  expect(all.byteLength).toBe(100)
  freeBytes(all)
  expect(all.byteLength).toBe(0)
})
