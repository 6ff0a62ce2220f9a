/**
 * Four validators in processes of their own, a hostile client that sends the worst transactions known, and an honest one that sends
 * transfers: a table of block intervals and of the time until transfers are included. In the middle all validators are stopped and
 * started again. Ends with 1 when a bound is missed. All of it shares the machine.
 *   node bench/hostile-transactions.ts [--minutes 10] [--seed 1] [--accounts 48] [--round-timeout 1000] [--logs FOLDER]
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createRandom } from '@tandem/base/random.ts'
import { Committee, type NodeOfMany } from '../test/support/committee.ts'
import { sleep } from '../test/support/node-process.ts'
import { scrape } from '../test/support/scrape.ts'
import { forkOf, spreadOf } from './committee/figures.ts'
import { HonestClient } from './hostile-committee/honest-client.ts'
import { HostileClient } from './hostile-committee/hostile-client.ts'
import { includedOf, printTable, type Row } from './hostile-committee/report.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    /** Of the hostile client. */
    accounts: { type: 'string', default: '48' },
    /** Of round 0, milliseconds; that of the public networks is 2,000. */
    'round-timeout': { type: 'string', default: '1000' },
    /** Folder for the logs of the nodes since the restart. */
    logs: { type: 'string' },
  },
})
const VALIDATORS = 4
const HONEST = 8
/** 16 transfers a second. */
const EVERY_MS = 500
const BOUND_MS = { interval: 2_000, inclusion: 3_000, restart: 5_000 }
const hostileAccounts = Number(values.accounts)
const halfMs = (Number(values.minutes) * 60_000) / 2

const committee = await Committee.open(VALIDATORS, 1, {
  accounts: HONEST + hostileAccounts,
  params: { roundTimeoutMs: Number(values['round-timeout']) },
  args: ['--execution', 'wasm', '--metrics-port', '0', '--log-level', values.logs === undefined ? 'warn' : 'debug'],
})
process.once('exit', () => void committee.close())
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
await committee.start()
const { nodes, accounts } = committee
const [first] = nodes as [NodeOfMany]
await first.reach(3)

let isOver = false
const honest = new HonestClient(nodes)
const hostile = new HostileClient(nodes, createRandom(Number(values.seed)))
await honest.listen()
const running = [
  honest.run(accounts.slice(0, HONEST), EVERY_MS, () => isOver),
  hostile.run(accounts.slice(HONEST), () => isOver),
]
await sleep(halfMs)

// Transfers that are under way when all nodes stop wait for them to come back, and are not counted.
honest.isPaused = true
hostile.isPaused = true
await sleep(BOUND_MS.inclusion)
const lateBefore = honest.waiting
await Promise.all(nodes.map(node => node.stop()))
const before = await startAgain()
honest.isPaused = false
hostile.isPaused = false
await sleep(halfMs)
honest.isPaused = true
await sleep(BOUND_MS.inclusion)
isOver = true
await Promise.all(running)
honest.close()

const late = [...lateBefore, ...honest.waiting]
const intervals = spreadOf(honest.intervals)
const inclusion = spreadOf([...honest.latencies, ...late])
const fork = await forkOf(nodes)
const rows: Row[] = [
  {
    figure: 'block interval',
    unit: 'ms',
    ...intervals,
    bound: `p99 < ${BOUND_MS.interval}`,
    kept: intervals.p99 < BOUND_MS.interval,
  },
  {
    figure: 'transfer included',
    unit: 'ms',
    ...inclusion,
    bound: `p99 < ${BOUND_MS.inclusion}`,
    kept: inclusion.p99 < BOUND_MS.inclusion,
  },
  { figure: 'transfers never included', count: late.length, bound: '0', kept: late.length === 0 },
  { figure: 'transfers refused', count: honest.failures.length, bound: '0', kept: honest.failures.length === 0 },
  {
    figure: 'block after the restart',
    unit: 'ms',
    max: before.blockMs,
    bound: `< ${BOUND_MS.restart}`,
    kept: before.blockMs < BOUND_MS.restart,
  },
  { figure: 'processes ready', unit: 'ms', max: before.readyMs },
  { figure: 'fork', count: fork ?? 0, bound: 'none', kept: fork === null },
]
printTable(rows)
const metrics = await Promise.all(nodes.map(({ ready }) => scrape(ready.metrics)))
console.log(
  JSON.stringify({
    figure: 'hostile transactions',
    minutes: Number(values.minutes),
    sent: Object.fromEntries(hostile.sent),
    included: await includedOf(first, hostile.hashes),
    refused: Object.fromEntries(hostile.refused),
    honestFailures: honest.failures.slice(0, 5),
    roundChanges: metrics.map(samples => samples.get('consensus_round_changes_total')),
    overruns: metrics.map(samples => samples.get('txpool_overruns_total')),
  }),
)
if (values.logs !== undefined) {
  mkdirSync(values.logs, { recursive: true })
  for (const node of nodes) writeFileSync(join(values.logs, `${node.name}.log`), node.log)
  writeFileSync(join(values.logs, 'programs.json'), JSON.stringify(Object.fromEntries(hostile.hashes)))
}
for (const node of nodes) if (node.log.includes('"level":"error"')) console.log(node.log.slice(-2_000))
await committee.close()
process.exit(rows.every(row => row.kept !== false) ? 0 : 1)

/** All processes at once; from the last one's ready line to the first new block. */
async function startAgain(): Promise<{ readonly readyMs: number; readonly blockMs: number }> {
  const startMs = performance.now()
  await committee.start()
  const readyMs = performance.now() - startMs
  await honest.listen()
  const head = await first.number()
  await first.reach(head + 1, 60_000)
  return { readyMs: Math.round(readyMs), blockMs: Math.round(performance.now() - startMs - readyMs) }
}
