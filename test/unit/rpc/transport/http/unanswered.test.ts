import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../../../src/config/limits/clients.ts'
import { HttpWire } from '../../../../support/http-wire.ts'
import { eventually } from '../../../../support/node-process.ts'
import { dial, readAll } from '../../../../support/raw-http.ts'
import { Rig } from '../../../../support/rpc/rig.ts'

const CLIENT = '127.0.0.2'
const GET = 'GET /slow HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'
/** Most requests in what the system gives at once. */
const READ = Math.ceil(65_536 / GET.length)

let rig: Rig
let waiting: (() => void)[]
let begun: number
const start = async (): Promise<void> => {
  waiting = []
  begun = 0
  rig = await Rig.start({
    routes(app) {
      app.get('/slow', () => {
        begun++
        return new Promise(resolve => waiting.push(() => resolve('')))
      })
    },
  })
}
const answerAll = (): void => {
  for (const answer of waiting.splice(0)) answer()
}
const held = (): number => rig.server.budgets.bodies.heldBy(CLIENT)
afterEach(() => rig.stop())

test('requests sent ahead are read as earlier ones are answered, and count until then', async () => {
  await start()
  const sent = 4 * READ
  const socket = await dial(rig.server.port, CLIENT)
  socket.resume().write(GET.repeat(sent))
  await eventually('requests begin', async () => begun >= RPC_LIMITS.unansweredRequests || undefined)
  await sleep(300)
  // Bytes that were on their way when the connection was paused.
  expect(begun).toBeLessThan(2 * READ)
  expect(held()).toBeGreaterThan((begun - 3) * RPC_LIMITS.unansweredBytes)
  await eventually('all are begun', async () => {
    answerAll()
    return begun === sent || undefined
  })
  answerAll()
  await eventually('nothing is held', async () => held() === 0 || undefined)
  socket.destroy()
})

test('a client without room for more unanswered requests gets 503, and its connection ends', async () => {
  await start()
  const room = rig.server.budgets.bodies.meter(CLIENT)
  room.hold(RPC_LIMITS.budgets.bodies.client)
  const socket = await dial(rig.server.port, CLIENT)
  const answered = readAll(socket)
  socket.write(GET.repeat(20))
  await eventually('the end of the connection', async () => {
    answerAll()
    return socket.closed || undefined
  })
  const text = await answered
  expect(text.match(/HTTP\/1\.1 \d+/g)?.slice(-2)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 503'])
  expect(text).toMatch(/retry-after: 1\r\n/)
  expect(begun, 'what was read behind it is not handled').toBeLessThan(20)
  room.hold(0)
})

test('an upgrade sent behind a request without a response is a request like others: no frames follow the response', async () => {
  await start()
  const socket = await dial(rig.server.port, CLIENT)
  const answered = readAll(socket)
  const upgrade =
    'GET /ws HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
  socket.write(GET + upgrade)
  await eventually('the first is begun', async () => begun === 1 || undefined)
  await sleep(100)
  expect(rig.server.budgets.sockets.held).toBe(0)
  answerAll()
  const text = await answered
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 426'])
})

test('a connection ends soon after the last of so many requests, and one behind it is refused', async () => {
  await start()
  const { connectionRequests } = RPC_LIMITS
  const wire = await HttpWire.open(rig.server.port, CLIENT)
  await wire.send('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(connectionRequests + 1))
  const responses = await wire.until(connectionRequests + 1, 50_000)
  const shown = responses.map(({ status, head }) => `${status} ${/\r\nconnection: (\S+)/i.exec(head)?.[1]}`)
  expect(new Set(shown.slice(0, -2))).toEqual(new Set(['200 keep-alive']))
  expect(shown.slice(-2)).toEqual(['200 close', '503 close'])
  await wire.closed()
})
