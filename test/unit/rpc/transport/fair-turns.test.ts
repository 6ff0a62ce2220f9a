import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { eventually } from '../../../support/node-process.ts'
import { dial } from '../../../support/raw-http.ts'
import { Rig } from '../../../support/rpc/rig.ts'

let rig: Rig
let handled: string[]
afterEach(() => rig.stop())

/** Takes a turn of the event loop, however fast the machine is. */
const spin = (): void => {
  const endMs = performance.now() + 12
  while (performance.now() < endMs);
}
const start = async (work: (() => void) | undefined): Promise<void> => {
  handled = []
  rig = await Rig.start({
    routes(app) {
      app.get('/work', (request, reply) => {
        work?.()
        handled.push(request.ip)
        return reply.send('')
      })
      app.get('/light', (request, reply) => {
        handled.push(request.ip)
        return reply.send('')
      })
    },
  })
  // As a node that stays does at its start.
  await rig.server.routes()
}
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`

test('a light request does not stand behind what another client has sent before', async () => {
  await start(spin)
  const hostile = await Promise.all(Array.from({ length: 10 }, () => dial(rig.server.port, '127.0.0.2')))
  const honest = await dial(rig.server.port, '127.0.0.3')
  for (const socket of hostile) socket.resume().write(get('/work').repeat(20))
  await eventually('some of it is handled', async () => handled.length >= 5 || undefined, { everyMs: 1 })
  const before = handled.length
  honest.write(get('/light'))
  await once(honest, 'data')
  // A turn of the event loop is a request of the other client, and the request comes in the next turn or the one after.
  expect(handled.length - before).toBeLessThan(10)
  expect(handled).toContain('127.0.0.3')
  for (const socket of [...hostile, honest]) socket.destroy()
})

test('a client whose turn is over is not read: its requests are handled in many turns of the event loop', async () => {
  await start(undefined)
  // As many as are answered before the time for the head of the last one is over.
  const perSocket = 500
  const sockets = await Promise.all(Array.from({ length: 20 }, () => dial(rig.server.port, '127.0.0.2')))
  const sent = perSocket * sockets.length
  let most = 0
  for (const socket of sockets) socket.resume().write(get('/work').repeat(perSocket))
  while (handled.length < sent) {
    const before = handled.length
    await turn()
    most = Math.max(most, handled.length - before)
  }
  // One read of one connection, and what a turn has time for.
  expect(most).toBeLessThan(sent / 8)
  for (const socket of sockets) socket.destroy()
})
