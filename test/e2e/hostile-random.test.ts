import type { Hex } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rpc } from '../support/devnet.ts'
import { type Fuzz, openFuzz } from '../support/fuzz/drive.ts'
import { LEFT_OUT } from '../support/fuzz/requests.ts'
import { deployToken } from '../support/load.ts'
import { eventually, type NodeProcess, type Ready, spawnNode } from '../support/node-process.ts'
import { rssMegabytes } from '../support/scrape.ts'
import { SEED } from '../support/seed.ts'

/** `REQUESTS=1000000` is the long form. */
const REQUESTS = Number(process.env['REQUESTS'] ?? 30_000)
const LANES = 10
/** The requests go on until the subscriptions among them have told this much; blocks come by the clock. */
const NOTIFICATIONS = 100
/**
 * Wants the RLP of a whole block, an account that is impersonated at that moment, a transaction of the node that is still pending, one without a gap
 * that a block takes while the request waits, or the hash of the head at that moment with a time after it.
 */
const BY_CHANCE =
  /^(debug_traceBlock|eth_sendUnsignedTransaction|(eth|native)_resend|(eth|native)_sendRawTransactionSync|testing_buildBlockV1)$/
/** Of the resident set, from the first quarter to the end, MB: heap room that is not given back, no leak. */
const GROWTH_MB = 120

let node: NodeProcess
let ready: Ready
let fuzz: Fuzz

beforeAll(async () => {
  const faucet = ['--accounts', String(LANES), '--balance', '1000000', '--unlock']
  node = spawnNode(['devnet', '--port', '0', '--metrics-port', '0', '--block-time', '0.5', ...faucet])
  ready = await node.ready
  fuzz = await openFuzz({ target: ready, token: await deployToken(ready), lanes: LANES, seed: SEED })
})
afterAll(async () => {
  fuzz?.close()
  expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
})

describe(`${REQUESTS} random requests, SEED=${SEED}`, () => {
  test('each with an id gets one answer, that its schema fits, and the node stays as it was', {
    timeout: 60_000 + REQUESTS * 20,
  }, async () => {
    const rss: number[] = []
    const sample = async () => rss.push(Math.round(await rssMegabytes(ready.metrics)))
    const timer = setInterval(() => void sample().catch(() => clearInterval(timer)), Math.max(100, REQUESTS / 100))
    const began = performance.now()
    const isOver = (count: number) => count >= REQUESTS && fuzz.notifications() > NOTIFICATIONS
    const sent = await fuzz.run(count => isOver(count) || fuzz.verdict.faults.length > 0)
    clearInterval(timer)
    const seconds = Math.round((performance.now() - began) / 1_000)
    await sample()
    const { faults, errors, results } = fuzz.verdict
    const every = Math.ceil(rss.length / 25)
    process.stdout.write(
      `${JSON.stringify({
        ...{ seed: SEED, sent, seconds, methods: fuzz.methods.length, notifications: fuzz.notifications() },
        results: [...results.values()].reduce((sum, count) => sum + count, 0),
        ...{ errors: Object.fromEntries(errors), rssMb: rss.filter((_, i) => i % every === 0) },
      })}\n`,
    )

    const crashes = node
      .stderr()
      .split('\n')
      .filter(line => line.includes('"level":"error"'))
    expect(faults.slice(0, 5), crashes.join('\n').slice(0, 3_000)).toEqual([])
    const health = await fetch(`${ready.http}/health`)
    expect([health.status, await health.json()]).toMatchObject([200, { healthy: true }])
    const head = Number(await rpc<Hex>(ready.http, 'eth_blockNumber'))
    await eventually('blocks come', async () =>
      Number(await rpc<Hex>(ready.http, 'eth_blockNumber')) > head ? true : undefined,
    )
    expect(node.stderr(), 'no handler crashed').not.toMatch(/"level":"error"/)
    const silent = [...results].filter(
      ([name, count]) => count === 0 && !BY_CHANCE.test(name) && !LEFT_OUT.some(({ names }) => names.test(name)),
    )
    expect(
      silent.map(([name]) => name),
      'methods that never gave a result',
    ).toEqual([])
    const warm = rss[Math.floor(rss.length / 4)] ?? 0
    expect((rss.at(-1) ?? 0) - warm, `MB: ${rss.join(' ')}`).toBeLessThan(GROWTH_MB)
  })
})
