import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { EXPLORER_LIMITS } from '@tandem/explorer/limits.ts'
import { addExplorerRoutes } from '@tandem/explorer/service/explorer-http.ts'
import { LiveStream } from '@tandem/explorer/service/live-stream.ts'
import { addPageRoutes } from '@tandem/explorer/service/pages-http.ts'
import { RequestLimiter } from '@tandem/explorer/service/request-limiter.ts'
import { UnreadAnswers, type UnreadLimits } from '@tandem/explorer/service/unread-answers.ts'
import { fastify } from 'fastify'
import { expect, test, vi } from 'vitest'
import { PAGE_SITE } from './page-rig.ts'

vi.setConfig({ testTimeout: 60_000 })

const MEBIBYTE = 1_024 * 1_024
/** More than the system takes for a reader that reads nothing. */
const ANSWER_BYTES = 12 * MEBIBYTE
const LIMITS: UnreadLimits = { ...EXPLORER_LIMITS.unread, client: 2 * ANSWER_BYTES, total: 3 * ANSWER_BYTES }

/** An explorer that answers everything with much, or with little below /api/small; the header names the client. */
const withExplorer = async (
  limits: UnreadLimits,
  use: (port: number, connections: () => Promise<number>) => Promise<void>,
): Promise<void> => {
  const app = fastify()
  const live = new LiveStream(async () => undefined)
  const options = {
    service: {
      request: async ({ url }: { readonly url: string }) => ({
        id: 0,
        status: 200,
        headers: { 'content-type': 'text/plain' },
        body: new Uint8Array(url.startsWith('/api/small') ? 1_000 : ANSWER_BYTES).fill(97),
      }),
    },
    limiter: new RequestLimiter([], () => 0),
    unread: new UnreadAnswers(limits),
    clientOf: ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) => String(headers['x-client']),
  }
  addExplorerRoutes(app, options)
  addPageRoutes(app, { ...options, site: PAGE_SITE, live })
  await app.listen({ host: '127.0.0.1', port: 0 })
  try {
    const connections = promisify(app.server.getConnections.bind(app.server)) as () => Promise<number>
    await use((app.addresses()[0] as { readonly port: number }).port, connections)
  } finally {
    live.close()
    app.server.closeAllConnections()
    await app.close()
  }
}

/** A reader that takes the first bytes of an answer and nothing more. */
const deafReader = async (port: number, client: string, path = '/api/blocks'): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-client: ${client}\r\n\r\n`)
  await once(socket, 'readable')
  return socket
}

test('answers that a client does not read are bounded; others and small ones are served, and what is read makes room', () =>
  withExplorer(LIMITS, async port => {
    const ask = async (client: string, path = '/api/blocks') => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-client': client } })
      return { status: response.status, bytes: (await response.arrayBuffer()).byteLength }
    }
    const [first, second] = [await deafReader(port, 'a'), await deafReader(port, 'a', '/explorer/blocks')]
    expect((await ask('a')).status).toBe(429)
    expect((await ask('a', '/explorer/blocks')).status).toBe(429)
    expect(await ask('a', '/api/small')).toEqual({ status: 200, bytes: 1_000 })
    expect(await ask('b')).toEqual({ status: 200, bytes: ANSWER_BYTES })
    const third = await deafReader(port, 'b')
    expect((await ask('c')).status).toBe(429)
    first.destroy()
    await expect.poll(async () => (await ask('a')).status).toBe(200)
    for (const socket of [second, third]) socket.destroy()
  }))

test('a reader that takes nothing for a while is dropped, one that reads slowly is not', () =>
  withExplorer({ ...LIMITS, stallMs: 5_000 }, async (port, connections) => {
    const deaf = await deafReader(port, 'a')
    const slow = await deafReader(port, 'b')
    expect(await connections()).toBe(2)
    let bytes = 0
    let pauses = 0
    for await (const chunk of slow) {
      bytes += (chunk as Buffer).byteLength
      // Twenty-four, which are longer together than a reader may take nothing.
      if (bytes > (pauses * MEBIBYTE) / 2 && pauses++ < 24) await delay(250)
      if (bytes >= ANSWER_BYTES) break
    }
    expect(bytes).toBeGreaterThanOrEqual(ANSWER_BYTES)
    await expect.poll(() => connections()).toBe(0)
    deaf.destroy()
  }))
