import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Endpoint } from '../../../../src/rpc/router/method.ts'
import { createBudgets } from '../../../../src/rpc/transport/clients/budgets.ts'
import { Clients } from '../../../../src/rpc/transport/clients/clients.ts'
import { attachFastLane } from '../../../../src/rpc/transport/http/fast-lane.ts'

const server = createServer()
const handled: string[] = []
const sockets: Socket[] = []

/** A request that takes a turn of the event loop, however fast the machine is. */
const spin = (): void => {
  const endMs = performance.now() + 12
  while (performance.now() < endMs);
}

beforeEach(async () => {
  const gate = {
    handle: (body: Buffer, { context }: Endpoint): string => {
      if (body.toString() === 'heavy') spin()
      handled.push(context.client)
      return '{}'
    },
  }
  const endpoint = { methods: new Map(), context: {} } as never
  attachFastLane(server, {
    gate: gate as never,
    endpoint,
    hosts: ['*'],
    cors: [],
    checkOrigin: false,
    clients: new Clients({}),
    budgets: createBudgets(),
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
})

const dial = async (localAddress: string): Promise<Socket> => {
  const socket = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, localAddress })
  sockets.push(socket)
  await once(socket, 'connect')
  return socket.resume()
}
const post = (body: string): string =>
  `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`

test('a light request does not stand behind what another client has sent before', async () => {
  const hostile = await Promise.all(Array.from({ length: 10 }, () => dial('127.0.0.2')))
  const honest = await dial('127.0.0.3')
  for (const socket of hostile) socket.write(post('heavy').repeat(20))
  while (handled.length < 5) await new Promise(resolve => setImmediate(resolve))
  const before = handled.length
  honest.write(post('light'))
  await once(honest, 'data')
  // A turn of the event loop is a request of the other client, and the request comes in the next turn or the one after.
  expect(handled.length - before).toBeLessThan(10)
  expect(handled).toContain('127.0.0.3')
})
