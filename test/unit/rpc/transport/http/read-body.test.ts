import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { ClientBudget } from '@tandem/base/client-budget.ts'
import { expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../../../src/config/limits/clients.ts'
import { readAway, readBody } from '../../../../../src/rpc/transport/http/read-body.ts'

const requestOf = (): Readable & IncomingMessage => {
  const request = new Readable({ read() {} })
  return Object.assign(request, { headers: {}, complete: false, socket: new EventEmitter() }) as never
}
const PIECE = Buffer.from(' ')
const flowing = () => new Promise(resolve => setImmediate(resolve))
const meter = () => new ClientBudget(RPC_LIMITS.budgets.bodies).meter('a')

test('a body in thousands of pieces of a byte ends its connection, and the rest of them is not taken', async () => {
  const request = requestOf()
  const { promise, resolve } = Promise.withResolvers<unknown>()
  readBody(request, meter(), resolve)
  let taken = 0
  request.on('data', () => taken++)
  await flowing()
  for (let i = 0; i < 20_000; i++) request.push(PIECE)
  expect(await promise).toEqual({ status: 400, text: 'the body comes in too many pieces' })
  expect(request.destroyed).toBe(true)
  expect(taken).toBeLessThan(2_000)
})

test('so does the rest of a refused body', async () => {
  const request = requestOf()
  const away = readAway(request)
  await flowing()
  for (let i = 0; i < 20_000; i++) request.push(PIECE)
  await away
  expect(request.destroyed).toBe(true)
})

test('the rest of a refused body in pieces of their usual size is read to its end', async () => {
  const request = requestOf()
  const away = readAway(request)
  for (let i = 0; i < 200; i++) request.push(Buffer.alloc(64 * 1024))
  request.push(null)
  await away
  expect(request.readableEnded).toBe(true)
})
