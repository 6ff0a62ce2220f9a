import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { ClientBudget } from '@tandem/base/client-budget.ts'
import { expect, onTestFinished, test, vi } from 'vitest'
import { FORWARD_LIMITS } from '../../../src/config/limits/clients.ts'
import { forward } from '../../../src/node/parts/pages/forward.ts'

const listen = async (handler: RequestListener): Promise<number> => {
  const server: Server = createServer(handler)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const PART = 1024 * 1024
/** A public port before a server whose responses have so many bytes. */
const portBefore = async (bytes: number, budget: ClientBudget, onRefused: () => void = () => undefined) => {
  const inner = await listen((_, response) =>
    response.writeHead(200, { 'content-length': bytes }).end(Buffer.alloc(bytes)),
  )
  return listen((request, response) => {
    const target = { port: inner, key: 'k' }
    const refuse = (): void => {
      onRefused()
      response.writeHead(503).end()
    }
    forward(request, response, target, { client: '192.0.2.1', unread: budget.meter('192.0.2.1'), refuse })
  })
}

/** A client that asks and reads nothing. */
const silentReader = (port: number) => {
  const socket = connect(port, '127.0.0.1').pause()
  socket.on('error', () => undefined)
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  onTestFinished(() => void socket.destroy())
  return socket
}

test('what clients have not read is bounded, and free again when they end', async () => {
  const budget = new ClientBudget({ total: 100 * PART, client: 40 * PART })
  let refused = 0
  const port = await portBefore(16 * PART, budget, () => refused++)
  const readers = [silentReader(port), silentReader(port)]
  await expect.poll(() => budget.held).toBe(32 * PART)
  expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(503)
  expect(refused).toBe(1)
  for (const reader of readers) reader.destroy()
  await expect.poll(() => budget.held).toBe(0)
  const response = await fetch(`http://127.0.0.1:${port}`)
  expect((await response.arrayBuffer()).byteLength).toBe(16 * PART)
  await expect.poll(() => budget.held).toBe(0)
})

test('a client that takes nothing of a response is dropped, and its place is free', async () => {
  const budget = new ClientBudget({ total: 100 * PART, client: 100 * PART })
  const port = await portBefore(32 * PART, budget)
  const timers = vi.spyOn(globalThis, 'setTimeout')
  silentReader(port)
  const stalled = () => timers.mock.calls.find(([, ms]) => ms === FORWARD_LIMITS.stallMs)
  await expect.poll(stalled).toBeDefined()
  const [drop] = stalled() as [() => void]
  timers.mockRestore()
  expect(budget.held).toBe(32 * PART)
  drop()
  await expect.poll(() => budget.held).toBe(0)
})
