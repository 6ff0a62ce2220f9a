/**
 * One node under mixed load for a while, one JSON line: memory over time, pace of blocks, and every answer that was none.
 *   node bench/soak.ts [minutes] [--block-time seconds]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Hex } from '../src/util/bytes.ts'
import { tandem } from '../test/support/command.ts'
import { createRandom } from '../test/support/consensus/random.ts'
import { rpc } from '../test/support/devnet.ts'
import { type Answers, HttpLane, type Lane, SocketLane } from '../test/support/lanes.ts'
import { deployToken, startLoad } from '../test/support/load.ts'
import { type Ready, sleep, spawnNode } from '../test/support/node-process.ts'
import { type MethodShape, RequestMaker } from '../test/support/random-requests.ts'
import { Socket } from '../test/support/rpc/socket.ts'
import { scrape } from '../test/support/scrape.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'block-time': { type: 'string', default: '1' }, seed: { type: 'string', default: '1' } },
})
const minutes = Number(positionals[0] ?? 5)
const random = createRandom(Number(values.seed))
const SAMPLE_MS = 5_000
const READERS = 4
const READER_PAUSE_MS = 5

const dataDir = mkdtempSync(join(tmpdir(), 'tandem-soak-'))
const node = spawnNode([
  ...['devnet', '--port', '0', '--metrics-port', '0', '--datadir', dataDir],
  ...['--block-time', values['block-time'], '--log-level', 'warn'],
])
process.once('exit', () => {
  node.child.kill('SIGKILL')
  rmSync(dataDir, { recursive: true, force: true })
})

let isOver = false

/** Reads of all kinds, right and wrong ones, one after another. */
const read = async (lane: Lane, maker: RequestMaker, answers: Answers): Promise<void> => {
  while (!isOver && answers.faults.length === 0) {
    await lane.send(maker.next(50), answers)
    await sleep(READER_PAUSE_MS)
  }
  lane.close()
}

/** Calls that never end by themselves, now and then. */
const loop = async ({ http }: Ready): Promise<void> => {
  const to: Hex = `0x${'aa'.repeat(20)}`
  while (!isOver) {
    await rpc(http, 'eth_call', [{ to }, 'latest', { [to]: { code: '0x5b600056' } }]).catch(() => undefined)
    await sleep(2_000)
  }
}

const watchBlocks = async ({ ws }: Ready): Promise<{ socket: Socket; intervals: number[] }> => {
  const socket = await Socket.open(ws)
  const intervals: number[] = []
  let last: number | undefined
  socket.raw.on('message', data => {
    if (!String(data).includes('eth_subscription')) return
    const now = performance.now()
    if (last !== undefined) intervals.push(now - last)
    last = now
    // The client keeps what came; a soak must not.
    socket.frames.length = 0
    socket.notifications.length = 0
  })
  await socket.result('eth_subscribe', ['newHeads'])
  return { socket, intervals }
}

const quantile = (numbers: readonly number[], q: number): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN)
}

interface Sample {
  readonly rss: number
  readonly heap: number
  readonly external: number
  readonly loopDelayMs: number
}

const sampleOf = async (url: string | undefined): Promise<Sample> => {
  const metrics = await scrape(url)
  const megabytes = (name: string): number => Math.round((metrics.get(name) ?? Number.NaN) / 2 ** 20)
  return {
    rss: megabytes('process_resident_memory_bytes'),
    heap: megabytes('process_heap_used_bytes'),
    external: megabytes('process_external_memory_bytes'),
    loopDelayMs: Math.round((metrics.get('process_event_loop_delay_seconds{quantile="1"}') ?? Number.NaN) * 1_000),
  }
}

const ready = await node.ready
const token = await deployToken(ready)
const { methods } = await rpc<{ methods: MethodShape[] }>(ready.http, 'rpc.discover')
const block = await rpc<{ hash: Hex; transactions: Hex[] }>(ready.http, 'eth_getBlockByNumber', ['0x1', false])
const known = {
  addresses: [token.address, ...ready.accounts.map(({ address }) => address)],
  hashes: [block.hash, ...block.transactions],
  raws: ['0x' as const],
}
const { socket, intervals } = await watchBlocks(ready)
const refusals: Record<string, number> = {}
let acknowledged = 0
const load = startLoad({
  node: ready,
  token,
  random: random.next,
  pauseMs: 50,
  onAcknowledged: () => acknowledged++,
  onRefused: (_, message) => {
    refusals[message] = (refusals[message] ?? 0) + 1
  },
})
const answers: Answers = { results: 0, errors: new Map(), faults: [] }
const lanes = await Promise.all(
  Array.from({ length: READERS }, (_, i) => (i % 2 === 0 ? new HttpLane(ready.http) : SocketLane.open(ready.ws))),
)
const readers = lanes.map(lane => read(lane, new RequestMaker(methods, known, random), answers))
const looping = loop(ready)

const samples: Sample[] = []
const end = performance.now() + minutes * 60_000
while (performance.now() < end) {
  await sleep(SAMPLE_MS)
  samples.push(await sampleOf(ready.metrics))
}
const { status } = await fetch(`${ready.http}/health`)
const head = Number(await rpc<Hex>(ready.http, 'eth_blockNumber'))
isOver = true
await Promise.all([load.stop(), ...readers, looping])
socket.close()
const { code, ms } = await node.end('SIGTERM')
const verified = await tandem(['db', 'verify', '--datadir', dataDir, '--json'], { timeoutMs: 600_000 })

const every = Math.max(1, Math.ceil(samples.length / 30))
const thin = (of: (sample: Sample) => number): number[] => samples.filter((_, i) => i % every === 0).map(of)
process.stdout.write(
  `${JSON.stringify({
    name: 'soak',
    minutes,
    blockTime: Number(values['block-time']),
    head,
    acknowledged,
    reads: { results: answers.results, errors: Object.fromEntries(answers.errors), faults: answers.faults },
    refusals,
    blockMs: { p50: quantile(intervals, 0.5), p99: quantile(intervals, 0.99), max: quantile(intervals, 1) },
    loopDelayMs: {
      p50: quantile(
        samples.map(s => s.loopDelayMs),
        0.5,
      ),
      max: Math.max(...samples.map(s => s.loopDelayMs)),
    },
    rssMb: thin(s => s.rss),
    heapMb: thin(s => s.heap),
    externalMb: thin(s => s.external),
    healthStatus: status,
    exit: { code, ms: Math.round(ms) },
    consistent: (JSON.parse(verified.stdout) as { ok: boolean }).ok,
    log: node.stderr().slice(0, 2_000),
  })}\n`,
)
process.exit(0)
