/**
 * A long chain of a committee of four: makes `--blocks` blocks (each fiftieth with a transaction that logs its sender, of 200 senders, or
 * each with `--transfers` to 100,000 accounts), moves old blocks to segments and indexes their logs as a node does, and prints one JSON line: bytes
 * a block in segments and in tables and written, milliseconds of a node's starts, of the logs of one sender over all blocks (cold: the first request
 * of a process), with `--sync` blocks a second of a follower, and `--parts` of the making and of the sync. A folder that is there already is used again;
 * `--follower`: a follower's, such as a copy of `source` before more blocks were made.
 *   node bench/long-chain.ts [--blocks 1000000] [--transfers 0] [--parts 12] [--starts 5] [--datadir DIR] [--sync [--follower DIR]]
 */
import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import launch from '../bin/launch.json' with { type: 'json' }
import { LogIndexer } from '../src/chain/logs/log-indexer.ts'
import { LogService } from '../src/chain/logs/log-service.ts'
import { SegmentMover } from '../src/chain/store/segment-mover.ts'
import { addressFromPrivateKey } from '../src/crypto/signature.ts'
import { openTestChain, signedRaw, type TestChain } from '../test/support/chain.ts'
import { rpc } from '../test/support/devnet.ts'
import { type NodeProcess, sleep, spawnNode } from '../test/support/node-process.ts'
import { decideNext, GENESIS, genesis, SENDER_KEYS } from './committee/certified-chain.ts'
import { cpuMsOf, memoryMiB, writtenBytesOf } from './process-usage.ts'

// Under the flags and environment of a node: with an arena for each thread the C library kept 170 MiB of free memory after a day of full blocks.
if (process.env['MALLOC_ARENA_MAX'] === undefined) {
  const args = [...process.execArgv, ...launch.flags, '--heap-growing-percent=30', ...process.argv.slice(1)]
  const env = { ...launch.environment, ...process.env }
  process.exit(spawnSync(process.execPath, args, { env, stdio: 'inherit' }).status ?? 1)
}

const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '1000000' },
    transfers: { type: 'string', default: '0' },
    parts: { type: 'string', default: '12' },
    starts: { type: 'string', default: '5' },
    follower: { type: 'string' },
    datadir: { type: 'string' },
    sync: { type: 'boolean', default: false },
  },
})
const blocks = Number(values.blocks)
const transfers = Number(values.transfers)
const folder = values.datadir ?? join(tmpdir(), `long-chain-${blocks}`)
const LOGGED = 50
const STARTS = Number(values.starts)
const PARTS = Number(values.parts)
const RECEIVERS = 100_000
/** Init code of a contract that logs its caller as a topic. */
const LOGGER = Buffer.from('64335f5fa1005f526005601bf3', 'hex')
const FEES = { maxFeePerGas: 700n * 10n ** 9n, maxPriorityFeePerGas: 700n * 10n ** 9n }

const round = (value: number): number => Math.round(value * 10) / 10
const quantile = (times: readonly number[], share: number): number =>
  round(times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0)
const median = (times: readonly number[]): number => quantile(times, 0.5)

/** Bytes of a file, or of all in a folder; a node may delete files meanwhile. */
const bytesOf = (path: string): number => {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) return stat?.size ?? 0
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}
const diskMiB = (dir: string): number => Math.round(bytesOf(join(dir, 'db')) / 2 ** 20)

/** Parts of the way to the last block, each told on stderr when it ends. */
class Curve {
  readonly parts: object[] = []
  #times: number[] = []
  readonly #pid: number
  readonly #first: number
  #from: { number: number; ms: number; cpuMs: number; written: number }

  /** `pid`: the process whose time is measured. */
  constructor(number: number, pid: number) {
    this.#pid = pid
    this.#first = number
    this.#from = this.#now(number)
  }

  /** Called at a block, with the milliseconds of what was measured there. */
  at(number: number, ms: number | undefined, more: () => object): void {
    if (ms !== undefined) this.#times.push(ms)
    const { length } = this.parts
    const end = this.#first + Math.floor(((blocks - this.#first) * (length + 1)) / PARTS)
    if (number < end || length === PARTS) return
    const to = this.#now(number)
    const count = number - this.#from.number
    const perSecond = round((count * 1_000) / (to.ms - this.#from.ms))
    const cpuMs = Math.round(((to.cpuMs - this.#from.cpuMs) / count) * 100) / 100
    const written = Math.round((to.written - this.#from.written) / count)
    const times = this.#times
    const spread = { p50: median(times), p99: quantile(times, 0.99), max: quantile(times, 1 - 1 / times.length) }
    const part = { number, perSecond, cpuMs, written, ...(times.length > 0 && { ms: spread }), ...more() }
    this.parts.push(part)
    process.stderr.write(`${JSON.stringify(part)}\n`)
    this.#times = []
    this.#from = to
  }

  #now(number: number) {
    const pid = this.#pid
    return { number, ms: performance.now(), cpuMs: cpuMsOf(pid), written: writtenBytesOf(pid) }
  }
}

const submit = async (chain: TestChain, number: number): Promise<void> => {
  const first = (number - 1) * transfers
  const raws = Array.from({ length: transfers }, (_, at) => {
    const key = SENDER_KEYS[(first + at) % SENDER_KEYS.length] as Uint8Array
    const to: Hex = `0x${(0xa0_0000 + (((first + at) * 7_919) % RECEIVERS)).toString(16).padStart(40, '0')}`
    return signedRaw(key, { nonce: Math.floor((first + at) / SENDER_KEYS.length), to, value: 1n, ...FEES })
  })
  await Promise.all(raws.map(raw => chain.pool.service.submit(raw)))
}

const make = async (dir: string) => {
  const chain = await openTestChain(dir, { mode: 'wasm', genesis })
  const { store, sources } = chain
  chain.clock.ms = Math.max(chain.clock.ms, chain.chain.head().timestamp * 1_000)
  const mover = new SegmentMover({
    ...{ store, blocks: sources.blocks, logger: silentLogger },
    head: () => chain.chain.head().number,
    history: undefined,
  })
  const contractOf = async (): Promise<Hex | null | undefined> =>
    (await sources.blocks.receipts(LOGGED))?.[0]?.contractAddress
  let contract = await contractOf()
  const curve = new Curve(chain.chain.head().number, process.pid)
  for (let number = chain.chain.head().number + 1; number <= blocks; number++) {
    if (transfers > 0) await submit(chain, number)
    else if (number % LOGGED === 0) {
      const at = number / LOGGED - 1
      const key = SENDER_KEYS[at % SENDER_KEYS.length] as Uint8Array
      const call = contract ? { to: contract, gasLimit: 100_000n } : { to: null, data: LOGGER, gasLimit: 200_000n }
      await chain.pool.service.submit(signedRaw(key, { nonce: Math.floor(at / SENDER_KEYS.length), ...call, ...FEES }))
    }
    const decidedMs = performance.now()
    await decideNext(chain)
    curve.at(number, performance.now() - decidedMs, () => ({ diskMiB: diskMiB(dir), ...memoryMiB(process.pid) }))
    mover.poke()
    if (transfers === 0) contract ??= await contractOf()
  }
  await chain.chain.flush()
  await mover.settled()
  await mover.close()
  const logs = new LogService({ store, workerUrl: new URL('../src/rpc/encode/log-worker.ts', import.meta.url) })
  const indexer = new LogIndexer({
    ...{ store, logger: silentLogger, earliest: () => 0 },
    ...{ run: job => logs.index(job), stop: () => logs.stopIndex(), exclusively: work => work() },
  })
  const startedMs = performance.now()
  await indexer.settled()
  const seconds = (performance.now() - startedMs) / 1_000
  await indexer.close()
  await logs.close()
  await chain.close()
  return { indexSeconds: round(seconds), made: curve.parts }
}

const started = async (
  dir: string,
  more: readonly string[],
): Promise<{ readonly node: NodeProcess; readonly ms: number }> => {
  const startedMs = performance.now()
  const node = spawnNode([
    ...['start', '--network', 'devnet', '--genesis', genesisFile, '--datadir', dir, '--port', '0'],
    ...['--operator-port', '0', '--p2p-host', '127.0.0.1', '--p2p-port', '0', '--no-discovery', ...more],
  ])
  await rpc((await node.ready).http, 'eth_blockNumber', [])
  return { node, ms: performance.now() - startedMs }
}

const logsOf = async (node: NodeProcess, sender: number): Promise<{ readonly ms: number; readonly count: number }> => {
  const { http } = await node.ready
  const topic = toWord(BigInt(addressFromPrivateKey(SENDER_KEYS[sender] as Uint8Array)))
  const startedMs = performance.now()
  const logs = await rpc<readonly unknown[]>(http, 'eth_getLogs', [{ fromBlock: '0x0', topics: [topic] }])
  return { ms: performance.now() - startedMs, count: logs.length }
}

const source = join(folder, 'source')
const genesisFile = join(folder, 'genesis.json')
mkdirSync(source, { recursive: true })
writeFileSync(genesisFile, GENESIS)
const made = await make(source)

const cold: number[] = []
const warm: number[] = []
const starts: number[] = []
let count = 0
for (let i = 0; i < STARTS; i++) {
  const { node, ms } = await started(source, [])
  starts.push(ms)
  const asked = await logsOf(node, i + 1)
  count = asked.count
  cold.push(asked.ms)
  for (let again = 0; again < 5; again++) warm.push((await logsOf(node, i + 1)).ms)
  await node.end('SIGTERM', 60_000)
}

const sync = async () => {
  const dir = values.follower ?? mkdtempSync(join(tmpdir(), 'tandem-follower-'))
  const server = await started(source, [])
  const { node } = await started(dir, ['--peers', (await server.node.ready).peer as string])
  const startedMs = performance.now()
  const { http } = await node.ready
  const head = async () => Number(await rpc<Hex>(http, 'eth_blockNumber', []))
  const first = await head()
  const curve = new Curve(first, node.child.pid as number)
  for (let number = first; number < blocks; await sleep(500)) {
    number = await head()
    curve.at(number, undefined, () => ({
      ...{ diskMiB: diskMiB(dir), ...memoryMiB(node.child.pid) },
      server: memoryMiB(server.node.child.pid),
    }))
  }
  const seconds = (performance.now() - startedMs) / 1_000
  await node.end('SIGTERM', 60_000)
  await server.node.end('SIGTERM', 60_000)
  if (values.follower === undefined) rmSync(dir, { recursive: true, force: true })
  return { seconds: round(seconds), perSecond: round((blocks - first) / seconds), parts: curve.parts }
}

const segments = join(source, 'db', 'segments')
const inSegments = existsSync(segments) ? bytesOf(segments) : 0
const perBlock = (bytes: number): number => round(bytes / blocks)
console.log(
  JSON.stringify({
    bench: 'long-chain',
    blocks,
    bytesPerBlock: {
      segments: perBlock(inSegments),
      tables: perBlock(bytesOf(join(source, 'db')) - inSegments),
    },
    ...made,
    startMs: median(starts),
    logs: { count, coldMs: median(cold), warmMs: median(warm) },
    ...(values.sync && { sync: await sync() }),
  }),
)
