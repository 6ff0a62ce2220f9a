import { connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Rig } from '../support/rpc/rig.ts'

const seed = Number(process.env['SEED'] ?? 20_250_217)
let rig: Rig
beforeAll(async () => {
  rig = await Rig.start()
})
afterAll(() => rig.stop())

const CALLS = [
  '{"jsonrpc":"2.0","id":"sync","method":"eth_chainId"}',
  '{"jsonrpc":"2.0","id":"later","method":"eth_feeHistory","params":[1,"latest"]}',
  '[{"id":"é€😀","method":"eth_chainId"},{"id":2,"method":"eth_feeHistory","params":[1,"latest"]}]',
  '{"jsonrpc":"2.0","method":"eth_chainId"}',
  '{',
]
/** HTTP framings of the body. */
const WRAPS: readonly ((body: string) => string)[] = [
  body =>
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  body =>
    `POST / HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  body =>
    `POST / HTTP/1.1\r\nHost: x\r\nTE: trailers\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  body =>
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`,
]

/** The bodies of the answers on one connection. */
const exchange = async (bytes: Buffer, cuts: readonly number[], answers: number): Promise<string[]> => {
  const socket = connect({ port: rig.server.port, host: '127.0.0.1', noDelay: true })
  let received = Buffer.alloc(0)
  const bodies: string[] = []
  const done = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${bodies.length} of ${answers} answers`)), 60_000)
    socket.on('error', reject)
    socket.on('data', (data: Buffer) => {
      received = Buffer.concat([received, data])
      for (;;) {
        const headEnd = received.indexOf('\r\n\r\n')
        if (headEnd === -1) break
        const length = Number(/content-length: (\d+)/i.exec(received.toString('latin1', 0, headEnd))?.[1])
        const end = headEnd + 4 + length
        if (received.byteLength < end) break
        bodies.push(received.toString('utf8', headEnd + 4, end))
        received = received.subarray(end)
      }
      if (bodies.length === answers) {
        clearTimeout(timer)
        resolve()
      }
    })
  })
  let at = 0
  for (const cut of [...cuts, bytes.byteLength]) {
    socket.write(bytes.subarray(at, cut))
    at = cut
    await new Promise(resolve => setImmediate(resolve))
  }
  await done
  socket.destroy()
  return bodies
}

test('answers are the same whatever the framing, and wherever the bytes are cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(...CALLS), fc.constantFrom(...WRAPS)), { minLength: 1, maxLength: 8 }),
      fc.array(fc.nat(10_000), { maxLength: 6 }),
      async (requests, points) => {
        const bytes = Buffer.from(requests.map(([body, wrap]) => wrap(body)).join(''))
        const cuts = points.map(point => point % bytes.byteLength).sort((a, b) => a - b)
        const expected = await Promise.all(requests.map(([body]) => rig.post(body)))
        expect(await exchange(bytes, cuts, requests.length)).toEqual(expected)
      },
    ),
    { seed, numRuns: 150 },
  )
})
