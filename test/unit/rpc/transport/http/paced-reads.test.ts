import { afterEach, expect, test } from 'vitest'
import { eventually } from '../../../../support/node-process.ts'
import { dial } from '../../../../support/raw-http.ts'
import { Rig } from '../../../../support/rpc/rig.ts'

let rig: Rig
let handled = 0
const start = async (options: { readonly compression?: boolean } = {}): Promise<void> => {
  handled = 0
  rig = await Rig.start({
    ...options,
    routes(app) {
      app.get('/count', (_request, reply) => {
        handled++
        return reply.send('')
      })
    },
  })
}
afterEach(() => rig.stop())

const GET = 'GET /count HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'
const PER_SOCKET = Math.floor(65_536 / GET.length)

test.each([false, true])(
  'requests sent in one go are handled in many turns of the event loop (HTTP server alone: %s)',
  async compression => {
    await start({ compression })
    const sockets = await Promise.all(Array.from({ length: 40 }, () => dial(rig.server.port, '127.0.0.2')))
    let isOver = false
    let before = 0
    let most = 0
    const countTurn = (): void => {
      most = Math.max(most, handled - before)
      before = handled
      if (!isOver) setImmediate(countTurn)
    }
    countTurn()
    for (const socket of sockets) socket.resume().write(GET.repeat(PER_SOCKET))
    const sent = PER_SOCKET * sockets.length
    await eventually('all handled', async () => (handled === sent ? true : undefined), { everyMs: 5 })
    isOver = true
    expect(most).toBeLessThan(sent / 4)
    for (const socket of sockets) socket.destroy()
  },
)

test('a body of many pieces, and the answers in the order of the requests', async () => {
  await start()
  const call = (id: number, spaces: number): string => {
    const body = `{"jsonrpc":"2.0","id":${id},${' '.repeat(spaces)}"method":"eth_chainId"}`
    return `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\norigin: http://x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  }
  const socket = await dial(rig.server.port)
  let text = ''
  socket.setEncoding('latin1').on('data', chunk => {
    text += chunk
  })
  socket.write(GET + call(1, 0) + call(2, 300_000) + GET + call(3, 9_000))
  await eventually('three answers', async () => (/"id":3/.test(text) ? true : undefined))
  expect(text.match(/"id":\d/g)).toEqual(['"id":1', '"id":2', '"id":3'])
  expect(handled).toBe(2)
})

test('frames that follow the request for a WebSocket at once, over more than a piece', async () => {
  await start()
  const frame = (text: string): Buffer => {
    const payload = Buffer.from(text)
    // A client's frame: final text, 64-bit length, masked by zeros (RFC 6455 5.2).
    const head = Buffer.alloc(14)
    head.writeUInt16BE(0x81ff)
    head.writeBigUInt64BE(BigInt(payload.byteLength), 2)
    return Buffer.concat([head, payload])
  }
  const upgrade =
    'GET /ws HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
  const call = (id: number): string => `{"jsonrpc":"2.0","id":${id},${' '.repeat(20_000)}"method":"eth_chainId"}`
  const socket = await dial(rig.server.port)
  let text = ''
  socket.setEncoding('latin1').on('data', chunk => {
    text += chunk
  })
  socket.write(Buffer.concat([Buffer.from(upgrade), frame(call(1)), frame(call(2)), frame(call(3))]))
  await eventually('three answers', async () => (/"id":3/.test(text) ? true : undefined))
  expect(text).toMatch(/^HTTP\/1\.1 101 /)
  expect(text.match(/"id":\d/g)).toEqual(['"id":1', '"id":2', '"id":3'])
  socket.destroy()
})
