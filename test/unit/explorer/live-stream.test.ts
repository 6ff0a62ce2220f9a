import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EXPLORER_LIMITS } from '@tandem/explorer/limits.ts'
import { LiveStream } from '@tandem/explorer/service/live-stream.ts'
import { afterEach, expect, test, vi } from 'vitest'
import { eventually } from '../../support/devnet.ts'

vi.setConfig({ testTimeout: 120_000 })

const { perClient, total } = EXPLORER_LIMITS.live
const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** A stream behind a server whose readers name their client in the path; `reads` counts what was rendered. */
const start = async (read: () => Promise<string | undefined> = async () => 'x') => {
  let reads = 0
  const stream = new LiveStream(() => {
    reads++
    return read()
  })
  const server = createServer((request, response) => {
    if (!stream.add(response, request.url ?? '')) response.writeHead(503).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => {
    stream.close()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const open = (path: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const request = get({ port, host: '127.0.0.1', path, agent: false }, resolve).on('error', reject)
      ends.push(() => request.destroy())
    })
  return { stream, open, reads: () => reads }
}

/** Data of all events of a reader so far. */
const eventsOf = (reader: IncomingMessage): readonly string[] => {
  const events: string[] = []
  reader.on('data', (chunk: Buffer) => {
    for (const [, data] of chunk.toString().matchAll(/^data: (.*)$/gm)) events.push(data as string)
  })
  return events
}

const until = (done: () => boolean): Promise<unknown> =>
  eventually(
    'the events',
    async () => done(),
    isDone => isDone,
  )

test('a block is rendered once for all readers, and not at all without one', async () => {
  const { stream, open, reads } = await start()
  stream.onHead()
  expect(reads()).toBe(0)
  const readers = [await open('/a'), await open('/b'), await open('/c')]
  expect(readers[0]?.headers['content-type']).toBe('text/event-stream; charset=utf-8')
  const events = readers.map(eventsOf)
  await until(() => events.every(({ length }) => length > 0))
  const before = reads()
  const seen = events.map(({ length }) => length)
  stream.onHead()
  await until(() => events.every(({ length }, at) => length > (seen[at] as number)))
  expect(reads()).toBe(before + 1)
})

test('blocks that come while one is rendered lead to one more render', async () => {
  let go: (() => void) | undefined
  const { stream, open, reads } = await start(
    () =>
      new Promise(resolve => {
        go = () => resolve('y')
      }),
  )
  const reader = await open('/a')
  for (let block = 0; block < 50; block++) stream.onHead()
  expect(reads()).toBe(1)
  const events = eventsOf(reader)
  go?.()
  await until(() => reads() === 2)
  go?.()
  await until(() => events.length === 2)
  expect(reads()).toBe(2)
})

test('a render that fails ends no reader', async () => {
  let fails = true
  const { stream, open } = await start(async () => {
    if (fails) throw new Error('the thread is busy')
    return 'z'
  })
  const reader = await open('/a')
  stream.onHead()
  fails = false
  const events = eventsOf(reader)
  stream.onHead()
  await until(() => events.length > 0)
  expect(events[0]).toBe('z')
})

test('readers are bounded, of one client and of all', async () => {
  const { stream, open } = await start()
  for (let i = 0; i < perClient; i++) expect((await open('/a')).statusCode).toBe(200)
  expect((await open('/a')).statusCode).toBe(503)
  for (let i = perClient; i < total; i++) expect((await open(`/b${i}`)).statusCode).toBe(200)
  expect((await open('/c')).statusCode).toBe(503)
  expect(stream.size).toBe(total)
})
