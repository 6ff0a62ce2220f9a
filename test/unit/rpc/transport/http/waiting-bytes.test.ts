import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { paceReads } from '../../../../../src/rpc/transport/http/paced-reads.ts'
import { sliceOver } from '../../../../../src/util/async/time-slice.ts'
import { ClientBudget } from '../../../../../src/util/client-budget.ts'
import { eventually } from '../../../../support/node-process.ts'
import { dial } from '../../../../support/raw-http.ts'

const CLIENT = '127.0.0.2'
const RECEIVED = 60_000

let server: Server
let ends: Socket[] = []
afterEach(() => {
  for (const socket of ends.splice(0)) socket.destroy()
  server.close()
})

/** The server's end of a connection of the client. */
const accept = async (): Promise<Socket> => {
  server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const address = server.address()
  ends = [await dial(typeof address === 'object' && address !== null ? address.port : 0, CLIENT)]
  const [socket] = (await accepted) as [Socket]
  ends.push(socket)
  return socket
}

/** Works until the turn of the client is over. */
const useUpTurn = (): void => {
  while (sliceOver(CLIENT) === undefined);
}

test('bytes that wait for the turn of their client are charged to it until they are read', async () => {
  const socket = await accept()
  const bodies = new ClientBudget({ total: 1_000_000, client: 100_000 })
  useUpTurn()
  paceReads(socket, bodies.meter(CLIENT), Buffer.alloc(RECEIVED))
  expect(bodies.heldBy(CLIENT)).toBe(RECEIVED)
  let read = 0
  socket.on('data', (piece: Buffer) => {
    read += piece.byteLength
  })
  socket.resume()
  await eventually('all is read', async () => read === RECEIVED || undefined)
  expect(bodies.heldBy(CLIENT)).toBe(0)
  expect(socket.destroyed).toBe(false)
})

test('a connection is closed when there is no room for its bytes, and holds nothing', async () => {
  const socket = await accept()
  const bodies = new ClientBudget({ total: 1_000_000, client: 100_000 })
  const other = bodies.meter(CLIENT)
  other.hold(50_000)
  useUpTurn()
  paceReads(socket, bodies.meter(CLIENT), Buffer.alloc(RECEIVED))
  expect(socket.writableEnded, 'with a response').toBe(true)
  expect(bodies.heldBy(CLIENT)).toBe(50_000)
})

test('the bytes of a connection that closes are given back', async () => {
  const socket = await accept()
  const bodies = new ClientBudget({ total: 1_000_000, client: 100_000 })
  useUpTurn()
  paceReads(socket, bodies.meter(CLIENT), Buffer.alloc(RECEIVED))
  socket.destroy()
  await once(socket, 'close')
  expect(bodies.heldBy(CLIENT)).toBe(0)
})
