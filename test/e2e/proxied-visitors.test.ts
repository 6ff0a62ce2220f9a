import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandom, type Random } from '@tandem/base/random.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HttpWire, postText } from '../support/http-wire.ts'
import { freePort, sleep } from '../support/node-process.ts'
import { PROXIES } from '../support/proxies.ts'
import { Rig } from '../support/rpc/rig.ts'
import { SEED } from '../support/seed.ts'

/* Visitors behind a real proxy that uses its connections to the node again: a hostile one never makes another one read a wrong response. */

const RUN_MS = Number(process.env['PROXIED_VISITORS_MS'] ?? 4_000)
const HOSTILE = 6
const HONEST = 4

let dir: string
let rig: Rig
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tandem-proxied-'))
  const random = createRandom(SEED)
  rig = await Rig.start({
    clientRules: { trustProxy: { proxies: 1, header: 'x-forwarded-for' } },
    // A call during which more of its connection arrives.
    logQueryPort: {
      text: async () => {
        await sleep(random.below(40))
        return [new TextEncoder().encode('[]').slice()]
      },
    },
  })
  rig.chain.append()
})
afterAll(async () => {
  await rig.stop()
  rmSync(dir, { recursive: true, force: true })
})

const callOf = (id: string, isSlow = false): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    ...(isSlow
      ? { method: 'eth_getLogs', params: [{ fromBlock: '0x0', toBlock: 'latest' }] }
      : { method: 'eth_chainId', params: [] }),
  })

const chunkedOf = (body: string, random: Random): string => {
  let text =
    'POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n'
  for (let at = 0; at < body.length; ) {
    const piece = body.slice(at, at + 1 + random.below(20_000))
    text += `${piece.length.toString(16)}\r\n${piece}\r\n`
    at += piece.length
  }
  return `${text}0\r\n\r\n`
}

/** A body that is full of whole requests. */
const smuggling = (random: Random): string => {
  const inner = postText(callOf(`smuggled ${random.below(1_000)}`, random.chance(0.3)))
  return `"${inner.repeat(1 + random.below(600))}`
}

const FORMS: readonly ((random: Random) => string)[] = [
  random => postText(smuggling(random)),
  random => chunkedOf(smuggling(random), random),
  () => postText(callOf('hostile', true)),
  random => postText(callOf('hostile'), `connection: upgrade\r\nupgrade: ${random.pick(['h2c', 'TLS/1.0', 'x'])}\r\n`),
  random => postText(smuggling(random), 'expect: 100-continue\r\n'),
  random => postText(smuggling(random), 'connection: keep-alive\r\n').replace('HTTP/1.1', 'HTTP/1.0'),
  () => 'GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n',
  random => postText(smuggling(random), 'x-forwarded-for: 203.0.113.9\r\n').replace('POST / ', 'POST /rpc '),
  random => `${postText(smuggling(random), 'content-length : 3\r\n')}`,
]

/** Sends forms of requests cut anywhere, and leaves in the middle of some. */
const attack = async (
  port: number,
  from: string,
  random: Random,
  isOver: () => boolean,
  bodies: string[],
): Promise<void> => {
  while (!isOver()) {
    const wire = await HttpWire.open(port, from)
    for (let left = 1 + random.below(5); left > 0 && !wire.isClosed; left--) {
      const bytes = Buffer.from(random.pick(FORMS)(random))
      const leavesAt = random.chance(0.2) ? random.below(bytes.byteLength) : bytes.byteLength
      const size = random.pick([100, 3_000, 70_000])
      for (let at = 0, pieces = 0; at < leavesAt; pieces++) {
        const to = pieces === 100 || isOver() ? leavesAt : Math.min(leavesAt, at + 1 + random.below(size))
        await wire.send(bytes.subarray(at, to))
        at = to
      }
      if (leavesAt < bytes.byteLength) break
    }
    await sleep(random.below(60))
    bodies.push(...wire.responses.map(({ body }) => body))
    wire.end()
  }
}

/** Calls one after the other and expects its own response to each. */
const visit = async (
  port: number,
  from: string,
  random: Random,
  isOver: () => boolean,
  onCalled: () => void,
): Promise<void> => {
  let wire = await HttpWire.open(port, from)
  for (let count = 0; !isOver(); count++) {
    const id = `honest ${from} ${count}`
    const before = wire.responses.length
    await wire.send(postText(callOf(id, random.chance(0.2))))
    const response = (await wire.until(before + 1))[before]
    expect([response?.status, response?.body], `SEED=${SEED}`).toEqual([200, expect.stringContaining(`"id":"${id}"`)])
    onCalled()
    if (!wire.isClosed && !random.chance(0.1)) continue
    wire.end()
    wire = await HttpWire.open(port, from)
  }
  wire.end()
}

test.each(PROXIES)(
  '$name: every visitor reads responses to its own requests only',
  { timeout: RUN_MS + 290_000 },
  async ({ begin, name, why }) => {
    expect(why, 'CI installs both').toBeUndefined()
    const port = await freePort()
    const proxy = await begin(dir, [`127.0.0.1:${rig.server.port}`], port)
    const until = performance.now() + RUN_MS
    const bodies: string[] = []
    const calls = Array.from({ length: HONEST }, () => 0)
    const isOver = (): boolean =>
      performance.now() > until && bodies.length > RUN_MS / 100 && calls.every(count => count > RUN_MS / 200)
    await Promise.all([
      ...Array.from({ length: HOSTILE }, (_, i) => attack(port, '127.0.0.9', createRandom(SEED + i), isOver, bodies)),
      ...calls.map((_, i) => {
        const onCalled = (): void => {
          calls[i] = (calls[i] ?? 0) + 1
        }
        return visit(port, `127.0.0.${20 + i}`, createRandom(SEED - 1 - i), isOver, onCalled)
      }),
    ])
    await proxy.stop()
    for (const body of bodies) expect(body, name).not.toMatch(/"id":"(honest|smuggled)/)
  },
)
