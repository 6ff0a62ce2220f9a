/**
 * One node under mixed load for a while, one JSON line: memory over time, pace of blocks, and every answer that was none.
 * Transfers, token calls and creations from half of the accounts; from the other half everything else the node offers, right and
 * wrong, over HTTP and WebSocket: calls, logs, traces, filters, subscriptions that come and go. Ends with 1 when a bound is broken.
 * The pace of blocks is a property of the node only while its processor has time left: `--load 1` (default) is about 100 transactions and
 * 150 requests a second, half of what two cores shared with the load itself can bear; 3 is more than they can.
 *   node bench/soak.ts [minutes] [--block-time seconds] [--seed number] [--load factor]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { Hex } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { tandem } from '../test/support/command.ts'
import { rpc } from '../test/support/devnet.ts'
import { openFuzz } from '../test/support/fuzz/drive.ts'
import { deployToken, startLoad } from '../test/support/load.ts'
import { type Ready, sleep, spawnNode } from '../test/support/node-process.ts'
import { scrape } from '../test/support/scrape.ts'
import { quantile, rssGrowthPercent, type Sample, sampleOf, slowSyncsOf, thinned } from './soak/samples.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'block-time': { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    load: { type: 'string', default: '1' },
  },
})
const minutes = Number(positionals[0] ?? 5)
const blockMs = Number(values['block-time']) * 1_000
const seed = Number(values.seed)
const SAMPLE_MS = 5_000
const LANES = 10
const lanePauseMs = 60 / Number(values.load)
const loadPauseMs = 120 / Number(values.load)
const ENDLESS_PAUSE_MS = 2_000
/** A third of a run that is too short for the whole of it. */
const WARM_UP_MS = Math.min(5, minutes / 3) * 60_000
const MOST_GROWTH_PERCENT = 10
const MOST_INTERVAL_PERCENT = 5

const dataDir = mkdtempSync(join(tmpdir(), 'tandem-soak-'))
const node = spawnNode([
  ...['devnet', '--port', '0', '--metrics-port', '0', '--datadir', dataDir],
  ...['--accounts', String(2 * LANES), '--balance', '100000000'],
  // Without what makes blocks by itself, turns the chain back or moves the clock: the pace of blocks is judged here.
  ...['--http-api', 'eth,net,rpc,native,debug,web3,txpool'],
  ...['--block-time', values['block-time'], '--log-level', 'warn'],
])
process.once('exit', () => {
  node.child.kill('SIGKILL')
  rmSync(dataDir, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

let isOver = false

/** Calls that never end by themselves, now and then. */
const callEndlessly = async ({ http }: Ready): Promise<void> => {
  const to: Hex = `0x${'aa'.repeat(20)}`
  while (!isOver) {
    await rpc(http, 'eth_call', [{ to }, 'latest', { [to]: { code: '0x5b600056' } }]).catch(() => undefined)
    await sleep(ENDLESS_PAUSE_MS)
  }
}

const ready = await node.ready
const token = await deployToken(ready)
const heads = new Worker(new URL('./soak/heads.ts', import.meta.url), { workerData: { url: ready.ws } })
const fuzz = await openFuzz({
  target: { ...ready, accounts: ready.accounts.slice(LANES) },
  token,
  lanes: LANES,
  seed,
})
const refusals: Record<string, number> = {}
let acknowledged = 0
const load = startLoad({
  node: { ...ready, accounts: ready.accounts.slice(0, LANES) },
  token,
  random: createRandom(seed).next,
  pauseMs: loadPauseMs,
  onAcknowledged: () => acknowledged++,
  onRefused: (_, message) => {
    const kind = message.replaceAll(/\d+/g, '#')
    refusals[kind] = (refusals[kind] ?? 0) + 1
  },
})
const asking = fuzz.run(
  () => isOver,
  () => sleep(lanePauseMs),
)
const endless = callEndlessly(ready)

const samples: Sample[] = []
const end = performance.now() + minutes * 60_000
while (performance.now() < end) {
  await sleep(SAMPLE_MS)
  samples.push(await sampleOf(ready.metrics, node.child.pid as number))
}
const slowSyncs = slowSyncsOf(await scrape(ready.metrics))
const { status } = await fetch(`${ready.http}/health`)
const head = Number(await rpc<Hex>(ready.http, 'eth_blockNumber'))
const intervals = await new Promise<number[]>(resolve => {
  heads.once('message', resolve)
  heads.postMessage('intervals')
})
isOver = true
const [asked] = await Promise.all([asking, load.stop(), endless])
fuzz.close()
await heads.terminate()
const { code, ms } = await node.end('SIGTERM')
const verified = await tandem(['db', 'verify', '--datadir', dataDir, '--json'], { timeoutMs: 600_000 })

const { verdict } = fuzz
const growth = rssGrowthPercent(samples, WARM_UP_MS)
const blocks = { p50: quantile(intervals, 0.5), p99: quantile(intervals, 0.99), max: quantile(intervals, 1) }
const isOnTime = (ms: number): boolean => Math.abs(ms / blockMs - 1) * 100 <= MOST_INTERVAL_PERCENT
const kept = {
  memory: growth < MOST_GROWTH_PERCENT,
  blocks: isOnTime(blocks.p50) && isOnTime(blocks.p99),
  answers: verdict.unanswered === 0 && verdict.faults.length === 0,
  end: code === 0 && status === 200,
  data: (JSON.parse(verified.stdout) as { ok: boolean }).ok,
}
process.stdout.write(
  `${JSON.stringify({
    name: 'soak',
    ...{ minutes, blockTimeMs: blockMs, seed, warmUpMs: WARM_UP_MS, head },
    ...{ kept, rssGrowthPercent: growth, blockMs: blocks, unanswered: verdict.unanswered },
    transactions: { acknowledged, refusals },
    requests: {
      asked,
      results: [...verdict.results.values()].reduce((sum, count) => sum + count, 0),
      errors: Object.fromEntries(verdict.errors),
      notifications: fuzz.notifications(),
      faults: verdict.faults,
    },
    loopDelayMs: {
      p50: quantile(
        samples.map(sample => sample.loopDelayMs),
        0.5,
      ),
      max: Math.max(...samples.map(sample => sample.loopDelayMs)),
    },
    slowSyncs,
    rssMb: thinned(samples.map(sample => sample.rss)),
    filesMb: thinned(samples.map(sample => sample.files)),
    heapMb: thinned(samples.map(sample => sample.heap)),
    externalMb: thinned(samples.map(sample => sample.external)),
    exit: { code, ms: Math.round(ms) },
    log: node.stderr().slice(0, 2_000),
  })}\n`,
)
process.exit(Object.values(kept).every(Boolean) ? 0 : 1)
