import { EventEmitter } from 'node:events'
import type { Server } from 'node:net'
import { expect, test } from 'vitest'
import type { CallRequest } from '../../../../src/evm/calls/types.ts'
import { warmUpCalls } from '../../../../src/node/stages/servers.ts'

const setUp = (call: () => Promise<never> = () => Promise.reject(new Error('no thread'))) => {
  const server = new EventEmitter()
  const requests: CallRequest[] = []
  const due: (() => void)[] = []
  const stop = warmUpCalls({
    server: server as Server,
    calls: {
      call: request => {
        requests.push(request)
        return call()
      },
    },
    chain: { headBlock: { header: { number: 7 } } } as never,
    clock: {
      nowMs: () => 1_000,
      schedule: (atMs, work) => {
        expect(atMs).toBeGreaterThan(1_000)
        due.push(work)
        return () => void due.splice(due.indexOf(work), 1)
      },
    },
  })
  return { server, requests, due, stop }
}

test('the first connection, and no later one, has the thread started a little later', () => {
  const { server, requests, due } = setUp()
  expect(due).toHaveLength(0)
  server.emit('connection')
  server.emit('connection')
  expect(due).toHaveLength(1)
  expect(requests).toEqual([])
  // A failure stays without consequence.
  due[0]?.()
  expect(requests).toMatchObject([{ number: 7, message: { to: null } }])
})

test('it can be given up, before the connection and after it', () => {
  const before = setUp()
  before.stop()
  before.server.emit('connection')
  expect(before.due).toHaveLength(0)
  const after = setUp()
  after.server.emit('connection')
  after.stop()
  expect(after.due).toHaveLength(0)
})
