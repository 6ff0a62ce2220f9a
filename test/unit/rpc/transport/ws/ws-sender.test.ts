import { Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { ClientBudget } from '@tandem/base/client-budget.ts'
import { expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../../../src/config/limits/clients.ts'
import { SocketSender } from '../../../../../src/rpc/transport/ws/ws-sender.ts'

/** A sender over a connection whose writes are listed by their bytes. */
const sending = () => {
  const writes: number[] = []
  const socket = new Writable({
    highWaterMark: 2 ** 30,
    write(chunk: Buffer, _encoding, done) {
      writes.push(chunk.byteLength)
      done()
    },
    writev(chunks, done) {
      writes.push(chunks.reduce((sum, { chunk }) => sum + (chunk as Buffer).byteLength, 0))
      done()
    },
  })
  const client = {
    readyState: 1,
    OPEN: 1,
    get bufferedAmount() {
      return socket.writableLength
    },
    send: (frame: Buffer) => socket.write(frame),
  }
  const budget = new ClientBudget(RPC_LIMITS.budgets.answers)
  const sender = new SocketSender({
    ...{ client: client as never, socket: socket as never, owner: 'a', meter: budget.meter('a') },
    drop: () => {},
  })
  return { sender, writes, budget }
}

test('frames of one step of the event loop are written at once, and nothing waits for more', async () => {
  const { sender, writes } = sending()
  for (let i = 0; i < 10; i++) sender.send(Buffer.alloc(500))
  expect(writes).toEqual([])
  await turn()
  expect(writes).toEqual([5_000])
  sender.send(Buffer.alloc(100))
  await turn()
  expect(writes).toEqual([5_000, 100])
})

test('many bytes do not wait, and are not charged to the client', async () => {
  const { sender, writes, budget } = sending()
  for (let i = 0; i < 100; i++) {
    sender.send(Buffer.alloc(1_000))
    expect(budget.held).toBe(0)
  }
  await turn()
  expect(Math.max(...writes)).toBeLessThanOrEqual(9_000)
  expect(writes.reduce((sum, bytes) => sum + bytes, 0)).toBe(100_000)
})
