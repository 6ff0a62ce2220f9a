/**
 * Four validators in processes of their own, of which one proposes the worst blocks it knows at each of its turns: as much as a block may
 * hold, with a wrong root, beyond the bound, with understated gas; from programs of every kind. A table of block intervals, of rounds and
 * of what honest nodes think of each other. Ends with 1 when a bound is missed. All of it shares the machine.
 *   node bench/hostile-proposer.ts [--blocks 100] [--round-timeout 1000] [--verbose]
 */
import { parseArgs } from 'node:util'
import { Committee, type NodeOfMany } from '../test/support/committee.ts'
import { type ByzantineBlockKind, byzantineEnv } from '../test/support/hostile/byzantine-blocks.ts'
import { PROGRAM_NAMES } from '../test/support/hostile/programs.ts'
import { sleep } from '../test/support/node-process.ts'
import { scrape } from '../test/support/scrape.ts'
import { forkOf, meanOf, roundsOf, spreadOf } from './committee/figures.ts'
import { HonestClient } from './hostile-committee/honest-client.ts'
import { printTable, type Row } from './hostile-committee/report.ts'

const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '100' },
    /** Of round 0, milliseconds; that of the public networks is 2,000. */
    'round-timeout': { type: 'string', default: '1000' },
    verbose: { type: 'boolean', default: false },
  },
})
const blocks = Number(values.blocks)
const KINDS: readonly ByzantineBlockKind[] = ['valid', 'wrong root', 'beyond the bound', 'understated']
const ACCOUNTS = 4
const HONEST = 4
const EVERY_MS = 500
const MEAN_MS = 1_600

/** One more than there are kinds shares no factor with the number of programs: all pairs come up. */
const kinds = [...KINDS, 'wrong root' as const]
const committee = await Committee.open(4, 1, {
  accounts: ACCOUNTS + HONEST,
  params: { roundTimeoutMs: Number(values['round-timeout']) },
  args: ['--execution', 'wasm', '--metrics-port', '0', ...(values.verbose ? [] : ['--log-level', 'warn'])],
})
process.once('exit', () => void committee.close())
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const { nodes, accounts } = committee
const [byzantine, ...honest] = nodes as [NodeOfMany, ...NodeOfMany[]]
const keys = accounts.slice(0, ACCOUNTS).map(({ privateKey }) => privateKey)
await Promise.all([
  byzantine.start(committee.others(byzantine), [], { env: byzantineEnv({ keys, kinds, programs: PROGRAM_NAMES }) }),
  ...honest.map(node => node.start(committee.others(node))),
])
const [first] = honest as [NodeOfMany]
await first.reach(3, 60_000)

const client = new HonestClient(honest)
await client.listen()
let isOver = false
const running = client.run(accounts.slice(ACCOUNTS), EVERY_MS, () => isOver)
const from = await first.number()
const startMs = performance.now()
while ((await first.number()) < from + blocks) await sleep(20)
const to = await first.number()
const meanMs = (performance.now() - startMs) / (to - from)
isOver = true
await running
client.close()

const rounds = await roundsOf(first, from + 1, to)
const metrics = await Promise.all(honest.map(({ ready }) => scrape(ready.metrics)))
const bansOf = (samples: ReadonlyMap<string, number>): number => samples.get('network_bans_total') ?? Number.NaN
const bans = metrics.reduce((sum, samples) => sum + bansOf(samples), 0)
const peers = await Promise.all(honest.map(peersOf))
const byzantineBlocks = KINDS.map(kind => [kind, byzantine.log.split(`byzantine block: ${kind}`).length - 1] as const)
const fork = await forkOf(honest)
const intervals = spreadOf(client.intervals)
const rows: Row[] = [
  {
    ...{ figure: 'block interval', unit: 'ms', ...intervals, mean: Math.round(meanMs) },
    ...{ bound: `mean <= ${MEAN_MS}`, kept: meanMs <= MEAN_MS },
  },
  { figure: 'round of a block', ...spreadOf(rounds), mean: meanOf(rounds) },
  { figure: 'transfer included', unit: 'ms', ...spreadOf(client.latencies) },
  { figure: 'bans by honest nodes', count: bans, bound: '0', kept: bans === 0 },
  {
    figure: 'honest peers of an honest node, least',
    ...{ count: Math.min(...peers), bound: String(honest.length - 1), kept: Math.min(...peers) >= honest.length - 1 },
  },
  ...byzantineBlocks.map(
    ([kind, count]): Row => ({ figure: `byzantine blocks: ${kind}`, count, bound: '> 0', kept: count > 0 }),
  ),
  { figure: 'fork', count: fork ?? 0, bound: 'none', kept: fork === null },
]
printTable(rows)
console.log(
  JSON.stringify({ figure: 'hostile proposer', blocks: to - from, late: rounds.filter(round => round > 0).length }),
)
for (const node of honest) if (node.log.includes('"level":"error"')) console.log(node.log.slice(-2_000))
await committee.close()
process.exit(rows.every(row => row.kept !== false) ? 0 : 1)

/** Honest validators it is connected to and thinks nothing bad of. */
async function peersOf(node: NodeOfMany): Promise<number> {
  const peers = await node.operator<readonly { validator: string | null; score: number }[]>('admin_peers')
  const good = new Set(honest.map(({ validator }) => validator))
  return peers.filter(({ validator, score }) => validator !== null && good.has(validator as never) && score === 0)
    .length
}
