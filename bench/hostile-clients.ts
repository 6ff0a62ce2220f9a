/**
 * One node, hostile clients of one address that do everything they can think of at once, and an honest one that asks fifty times a second
 * from another: one JSON line with the stalls of the main thread, the growth of the resident set and the honest client's latencies.
 * Ends with 1 when a bound is broken. The attackers share the machine: they get the processor time that the node and the honest client
 * leave, as real ones take none of it, or with `--attackers equal` as much as these. `attackerCpu` is their share of one core, `stalls` counts those in which the main thread itself worked so long, `waits` all in which it did not get to run.
 * `--mode at-once` runs the attacks together, 25 programs on the node's own machine; `--mode in-turns` runs one after the other, each for
 * an equal share of the time, as one client machine of the node's size would.
 *   node bench/hostile-clients.ts [--minutes 2] [--mode at-once] [--seed 1] [--clients 1] [--attackers last] [attack...]     (default: all attacks)
 */
import { fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { rpc } from '../test/support/devnet.ts'
import { ATTACK_NAMES, type AttackName } from '../test/support/hostile/clients/attacks.ts'
import { layMines } from '../test/support/hostile/clients/chain.ts'
import { sleep, spawnNode } from '../test/support/node-process.ts'
import { scrape } from '../test/support/scrape.ts'
import type { AttackersOptions, AttackersReport, ToAttackers } from './hostile-clients/attackers.ts'
import type { HonestReport } from './hostile-clients/honest.ts'
import { memoryMiB } from './process-usage.ts'
import { quantile, thinned } from './soak/samples.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '2' },
    mode: { type: 'string', default: 'at-once' },
    seed: { type: 'string', default: '1' },
    /** Addresses the attackers come from. */
    clients: { type: 'string', default: '1' },
    /** Whom processors serve last, or equally. */
    attackers: { type: 'string', default: 'last' },
  },
})
const minutes = Number(values.minutes)
const clients = Number(values.clients)
const { mode } = values
if (mode !== 'at-once' && mode !== 'in-turns') throw new Error('--mode is at-once or in-turns')
const { attackers: priority } = values
if (priority !== 'last' && priority !== 'equal') throw new Error('--attackers is last or equal')
const names = (positionals.length > 0 ? positionals : ATTACK_NAMES) as readonly AttackName[]
const SAMPLE_MS = 500
const CALM_MS = 5_000
const MOST = { stallMs: 100, growthMb: 256, honestP99Ms: 150 }

const dir = mkdtempSync(join(tmpdir(), 'tandem-hostile-'))
const stallsFile = join(dir, 'data-stalls')
const threadsFile = join(dir, 'data-threads')
const probes = ['stall-probe', 'thread-probe']
  .map(name => `--import=${new URL(`./hostile-clients/${name}.ts`, import.meta.url).href}`)
  .join(' ')
const startNode = (name: string) =>
  spawnNode(
    [
      ...['devnet', '--port', '0', '--metrics-port', '0', '--datadir', join(dir, name), '--log-level', 'warn'],
      ...['--http-api', 'eth,net,rpc,native,debug,web3,txpool', '--balance', '1000000'],
    ],
    {
      env: {
        NODE_OPTIONS: probes,
        STALLS_FILE: join(dir, `${name}-stalls`),
        THREADS_FILE: join(dir, `${name}-threads`),
      },
    },
  )

/** A node that ends in order leaves its stripped source in the cache: a thread that has to strip some holds fifteen megabytes for it. */
const fillCompileCache = async (): Promise<void> => {
  const first = startNode('first')
  try {
    const ready = await first.ready
    const { logged } = await layMines(ready)
    await rpc(ready.http, 'eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x1' }])
    await rpc(ready.http, 'eth_simulateV1', [
      { blockStateCalls: [{ calls: [{ to: ready.accounts[0]?.address }] }] },
      'latest',
    ])
    await rpc(ready.http, 'debug_traceTransaction', [logged[0], { tracer: 'callTracer' }])
    await first.end('SIGTERM')
  } finally {
    await first.kill()
  }
}
await fillCompileCache()
const node = startNode('data')
process.once('exit', () => {
  node.child.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const ready = await node.ready
await sleep(CALM_MS / 2)
const { pid = 0 } = node.child
const rssMb = (): number => memoryMiB(pid).rssMiB
const fresh = rssMb()
const target = await layMines(ready)

/** Starts a process of the bench in a session of its own: Linux shares processors between sessions first, and the node has one too. */
const start = (name: 'attackers' | 'honest', argument: string) => {
  const child = fork(new URL(`./hostile-clients/${name}.ts`, import.meta.url), [argument], { detached: true })
  process.once('exit', () => child.kill('SIGKILL'))
  return child
}
const honest = start('honest', ready.http)
const reportOf = (since: 'report' | 'turn' = 'report'): Promise<HonestReport> =>
  new Promise(resolve => {
    honest.once('message', report => resolve(report as HonestReport))
    honest.send(since)
  })
const options: AttackersOptions = { target, seed: Number(values.seed), clients, areLast: priority === 'last' }
const attackers = start('attackers', JSON.stringify(options))
const tellAttackers = (message: ToAttackers): boolean => attackers.send(message)
const attackersReport = (): Promise<AttackersReport> =>
  new Promise(resolve => {
    attackers.once('message', report => resolve(report as AttackersReport))
    tellAttackers('report')
  })

await sleep(CALM_MS)
const calm = await reportOf()
await reportOf('turn')
const before = rssMb()
const beganMs = Date.now()
const endMs = beganMs + minutes * 60_000
/** Growth and the honest client's latencies when the turn of each attack ended. */
const turns: Record<string, Record<string, number>> = {}
const inTurns = async (): Promise<void> => {
  for (const [i, name] of names.entries()) {
    tellAttackers({ begin: name })
    await sleep(Math.max(0, beganMs + ((i + 1) * minutes * 60_000) / names.length - Date.now()))
    tellAttackers({ end: name })
    const { p50, p99, max, failed } = await reportOf('turn')
    turns[name] = { growth: rssMb() - fresh, p50, p99, max, failed }
  }
}
const startCpuMs = (await attackersReport()).cpuMs
const attacking = mode === 'in-turns' ? inTurns() : undefined
if (mode === 'at-once') for (const name of names) tellAttackers({ begin: name })
const rss: number[] = []
while (Date.now() < endMs && node.child.exitCode === null) {
  await sleep(SAMPLE_MS)
  rss.push(rssMb())
}
const attacked = await reportOf()
const metrics = await scrape(ready.metrics).catch(() => new Map<string, number>())
const { did, cpuMs } = await attackersReport()
if (mode === 'at-once') for (const name of names) tellAttackers({ end: name })
await attacking
await sleep(CALM_MS)
const after = node.child.exitCode === null ? rssMb() : Number.NaN
const { status } = await fetch(`${ready.http}/health`).catch(() => ({ status: 0 }))

/** [when, how late, CPU of the main thread meanwhile, its wait for a processor], milliseconds. */
const waits = readFileSync(stallsFile, 'utf8')
  .split('\n')
  .filter(line => line !== '')
  .map(
    line =>
      JSON.parse(line) as { readonly at: number; readonly late: number; readonly cpu: number; readonly queued: number },
  )
  .filter(({ at }) => at >= beganMs && at <= endMs)
/** Largest memory of the threads of each name, MiB, and their CPU time, ms. */
const threads: Record<string, Record<string, number>> = {}
for (const line of readFileSync(threadsFile, 'utf8')
  .split('\n')
  .filter(text => text !== '')) {
  const { thread, at, ...sample } = JSON.parse(line) as { readonly thread: string; readonly at: number }
  if (at > endMs) continue
  const most = threads[thread] ?? {}
  threads[thread] = most
  for (const [name, value] of Object.entries(sample as Record<string, number>))
    most[name] = Math.max(most[name] ?? 0, value)
}
const stalls = waits.map(wait => wait.cpu).filter(ms => ms > MOST.stallMs)
// Memory may still grow while what the attackers left is put away.
const growth = Math.max(...rss, Number.isNaN(after) ? 0 : after) - fresh
const kept = {
  stalls: stalls.length === 0,
  memory: growth < MOST.growthMb,
  honest: attacked.p99 < MOST.honestP99Ms && attacked.failed === 0,
  alive: status === 200,
}
const sum = (parts: readonly number[]): number => parts.reduce((total, part) => total + part, 0)
const share = (part: number): number => Math.round((part / (minutes * 60_000)) * 100) / 100
process.stdout.write(
  `${JSON.stringify({
    name: 'hostile-clients',
    ...{
      minutes,
      mode,
      seed: Number(values.seed),
      clients,
      attackers: priority,
      attacks: names.length === ATTACK_NAMES.length ? 'all' : names,
    },
    kept,
    stalls: { count: stalls.length, max: Math.round(Math.max(0, ...stalls)) },
    waits: {
      count: waits.length,
      max: Math.round(Math.max(0, ...waits.map(wait => wait.late))),
      /** Share of all lateness in which the thread waited for a processor that others had. */
      queued:
        Math.round((100 * sum(waits.map(wait => wait.queued))) / Math.max(1, sum(waits.map(wait => wait.late)))) / 100,
    },
    rssMb: { fresh, before, most: Math.max(...rss), after, growth, over: thinned(rss, 40) },
    threads,
    honest: { calm, attacked },
    ...(mode === 'in-turns' && { turns }),
    attackerCpu: share(cpuMs - startCpuMs),
    p50RssMb: quantile(rss, 0.5),
    budgets: Object.fromEntries([...metrics].filter(([name]) => /^rpc_(?!calls|failures|busy|slow)/.test(name))),
    did,
    log: node.stderr().slice(0, 2_000),
  })}\n`,
)
process.exit(Object.values(kept).every(Boolean) ? 0 : 1)
