import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Hex } from '../../src/util/bytes.ts'
import { createRandom, type Random } from '../support/consensus/random.ts'
import { rpc } from '../support/devnet.ts'
import { type Answers, HttpLane, type Lane, SocketLane } from '../support/lanes.ts'
import { deployToken, signerOf, type Token } from '../support/load.ts'
import { eventually, type NodeProcess, type Ready, spawnNode } from '../support/node-process.ts'
import { type MethodShape, RequestMaker } from '../support/random-requests.ts'
import { rssMegabytes } from '../support/scrape.ts'
import { SEED } from '../support/seed.ts'

/** `REQUESTS=200000` is the long form. */
const REQUESTS = Number(process.env['REQUESTS'] ?? 5_000)
const LANES = 8
/** Of the resident set, from the end of the warm-up to the end, MB: heap room that is not given back, no leak. */
const GROWTH_MB = 120

let node: NodeProcess
let ready: Ready
let token: Token

beforeAll(async () => {
  node = spawnNode(['devnet', '--port', '0', '--metrics-port', '0', '--block-time', '0.5'])
  ready = await node.ready
  token = await deployToken(ready)
})
afterAll(async () => {
  expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
})

/** What one lane sends and must get. */
const drive = async (lane: Lane, maker: RequestMaker, count: number): Promise<Answers> => {
  const answers: Answers = { results: 0, errors: new Map(), faults: [] }
  for (let sent = 0; sent < count; ) {
    const request = maker.next(count - sent)
    sent += request.calls
    await lane.send(request, answers)
    if (answers.faults.length > 0) break
  }
  lane.close()
  return answers
}

const merge = (all: readonly Answers[]): Answers => {
  const errors = new Map<number, number>()
  for (const one of all) for (const [code, count] of one.errors) errors.set(code, (errors.get(code) ?? 0) + count)
  return {
    results: all.reduce((sum, { results }) => sum + results, 0),
    errors,
    faults: all.flatMap(({ faults }) => faults),
  }
}

describe(`${REQUESTS} random requests, seed ${SEED}`, () => {
  test('each with an id gets one answer with that id, and the node stays as it was', {
    timeout: 60_000 + REQUESTS * 20,
  }, async () => {
    const { methods } = await rpc<{ methods: MethodShape[] }>(ready.http, 'rpc.discover')
    const signed = signerOf(ready.accounts[2]?.privateKey ?? '0x', ready.chainId)
    const latest = await rpc<{ hash: Hex; transactions: Hex[] }>(ready.http, 'eth_getBlockByNumber', ['0x1', false])
    const samples = {
      addresses: [token.address, ...ready.accounts.map(({ address }) => address)],
      hashes: [latest.hash, ...latest.transactions],
      raws: [signed({ nonce: 0 }).raw, signed({ nonce: 5, value: 1n }).raw],
    }
    const lanes = await Promise.all(
      Array.from({ length: LANES }, (_, index) =>
        index % 2 === 0 ? new HttpLane(ready.http) : SocketLane.open(ready.ws),
      ),
    )
    const random = createRandom(SEED)
    const rss: number[] = []
    const sample = async () => rss.push(Math.round(await rssMegabytes(ready.metrics)))
    const timer = setInterval(() => void sample().catch(() => clearInterval(timer)), Math.max(100, REQUESTS / 200))
    const began = performance.now()
    const all = await Promise.all(
      lanes.map(lane =>
        drive(lane, new RequestMaker(methods, samples, laneRandom(random)), Math.ceil(REQUESTS / LANES)),
      ),
    )
    clearInterval(timer)
    const seconds = (performance.now() - began) / 1_000
    const { results, errors, faults } = merge(all)
    await sample()

    expect(faults.slice(0, 5)).toEqual([])
    const health = await fetch(`${ready.http}/health`)
    expect([health.status, await health.json()]).toMatchObject([200, { healthy: true }])
    const head = Number(await rpc<Hex>(ready.http, 'eth_blockNumber'))
    await eventually('blocks come', async () =>
      Number(await rpc<Hex>(ready.http, 'eth_blockNumber')) > head ? true : undefined,
    )
    expect(node.stderr(), 'no handler crashed').not.toMatch(/"level":"error"/)
    expect(
      [...errors.keys()].filter(code => ![-32700, -32600, -32601, -32602, -32000, -32003, 3].includes(code)),
    ).toEqual([])
    const warm = rss[Math.floor(rss.length / 4)] ?? 0
    process.stdout.write(
      `${JSON.stringify({ requests: REQUESTS, seconds: Math.round(seconds), results, errors: Object.fromEntries(errors), rss: rss.filter((_, i) => i % Math.ceil(rss.length / 20) === 0), last: rss.at(-1) })}\n`,
    )
    expect((rss.at(-1) ?? 0) - warm, `MB: ${rss.join(' ')}`).toBeLessThan(GROWTH_MB)
  })
})

const laneRandom = (random: Random): Random => createRandom(random.below(2 ** 31))
