import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { type FastifyInstance, fastify } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { RPC_LIMITS } from '../../../../../src/config/limits/clients.ts'
import { addWorkRoute } from '../../../../../src/rpc/transport/http/routes.ts'

type Work = readonly [Hex, Hex, Hex, Hex]

/** The route with work that the test sets. */
const startRoute = () => {
  const app: FastifyInstance = fastify()
  onTestFinished(() => app.close())
  const polls = new Set<() => void>()
  const total = { polls: 0 }
  let work: Work | undefined
  const onWork = (listener: () => void) => {
    polls.add(listener)
    total.polls++
    return () => polls.delete(listener)
  }
  addWorkRoute(app, { work: () => work, onWork })
  const get = (query: string, remoteAddress = '10.0.0.1') => app.inject({ url: `/work?${query}`, remoteAddress })
  const setWork = (value: bigint) => {
    work = [toWord(value), toWord(0n), toWord(0n), '0x1']
    for (const tell of [...polls]) tell()
  }
  return { app, polls, total, get, setWork }
}

test('a request that names no work is answered at once, also where there is none', async () => {
  const { total, get, setWork } = startRoute()
  expect(await get('')).toMatchObject({ statusCode: 503, body: 'no mining work available yet\n' })
  setWork(1n)
  expect((await get('')).json()[0]).toBe(toWord(1n))
  expect(total.polls).toBe(0)
})

test('one client waits in no more than its own places, and all get work when there is some', async () => {
  const { polls, get, setWork } = startRoute()
  const { total, client } = RPC_LIMITS.workPolls
  setWork(1n)
  const query = `longpollid=${toWord(1n)}`
  const waiting = Array.from({ length: client }, () => get(query))
  await expect.poll(() => polls.size).toBe(client)
  expect((await get(query)).statusCode).toBe(503)
  for (let at = client; at < total; at++) waiting.push(get(query, `10.0.1.${at}`))
  await expect.poll(() => polls.size).toBe(total)
  expect((await get(query, '10.0.0.2')).statusCode).toBe(503)
  setWork(2n)
  for (const { json } of await Promise.all(waiting)) expect(json()[0]).toBe(toWord(2n))
  const again = get(`longpollid=${toWord(2n)}`)
  await expect.poll(() => polls.size).toBe(1)
  setWork(3n)
  expect((await again).json()[0]).toBe(toWord(3n))
})

test('polls in one connection have one listener of its end, and end with it', async () => {
  const { app, polls } = startRoute()
  const warnings: string[] = []
  const warn = ({ name }: Error) => void warnings.push(name)
  process.on('warning', warn)
  onTestFinished(() => void process.off('warning', warn))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write('GET /work?longpollid=0x HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(20))
  await expect.poll(() => polls.size).toBe(20)
  socket.destroy()
  await expect.poll(() => polls.size).toBe(0)
  expect(warnings).toEqual([])
})
