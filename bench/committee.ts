/**
 * A committee of real processes on this machine, one JSON line for each figure. What is measured goes by the mode:
 *   plain     pace of blocks, rounds above 0, and time from proposal to decision in each node
 *   netem     the same over lines with latency, jitter and lost packets: tc netem in a network namespace where the kernel has it, else a
 *             proxy of our own
 *   restarts  from the start of a killed validator's process to its first vote
 *   kills     kill -9 all over the nodes under load, checked against everything said, logged and answered; ends with 1 if anything is wrong
 *   instant   from a transaction to its receipt with a block time of 0, the first and later ones of each run
 *   load      transfers included a second
 *   gossip    messages, bytes, offences and scores of each node at --per-second transfers, with --full-nodes; ends with 1 at any offence
 *   shadow    one node executes each block by EthereumJS too, under mixed transactions; ends with 1 at a difference
 *   sync      how fast a new node fetches empty blocks
 *   node bench/committee.ts [--mode plain] [--validators 4] [--blocks 1000] [--kills 100] [--seconds 30] [--runs 5] [--block-time 1] [--seed 1] [--execution wasm] [--full-nodes 3] [--per-second 2000]
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { createRandom } from '@tandem/base/random.ts'
import { Committee, type CommitteeOptions } from '../test/support/committee.ts'
import { overNetem, whyNoNetem } from '../test/support/netem.ts'
import { Wires } from '../test/support/wires/wires.ts'
import { gossip } from './committee/gossip.ts'
import { instant } from './committee/instant.ts'
import { kills } from './committee/kills.ts'
import { load } from './committee/load.ts'
import { pace } from './committee/pace.ts'
import { restarts } from './committee/restarts.ts'
import { shadow } from './committee/shadow.ts'
import { sync } from './committee/sync.ts'

const { values } = parseArgs({
  options: {
    mode: { type: 'string', default: 'plain' },
    validators: { type: 'string', default: '4' },
    blocks: { type: 'string', default: '1000' },
    kills: { type: 'string', default: '100' },
    runs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '30' },
    'block-time': { type: 'string' },
    seed: { type: 'string', default: '1' },
    execution: { type: 'string', default: 'wasm' },
    'full-nodes': { type: 'string', default: '3' },
    'per-second': { type: 'string', default: '2000' },
  },
})
const validators = Number(values.validators)
const blocks = Number(values.blocks)
const seed = Number(values.seed)
const labels = { validators, mode: values.mode }

/** Between two towns of one country. */
const LINE = { latencyMs: 15, jitterMs: 10, bytesPerMs: 12_500, stallChance: 0.005, stallMs: 200 }
const NETEM = { delayMs: 15, jitterMs: 5, lossPercent: 0.5 }
const isInside = process.env['BENCH_OVER_NETEM'] === '1'
const why = values.mode === 'netem' && !isInside ? whyNoNetem() : undefined
const linesOf = (line: object): Wires => new Wires(createRandom(seed), line)

interface Mode {
  /** Seconds. */
  readonly blockTime: number
  readonly options?: () => CommitteeOptions
  /** It starts the nodes itself. */
  readonly starts?: boolean
  /** false: what it showed is wrong. */
  readonly run: (committee: Committee) => Promise<boolean>
}

const MODES: Readonly<Record<string, Mode>> = {
  plain: { blockTime: 1, run: committee => pace(committee, blocks, labels) },
  netem: {
    blockTime: 1,
    options: () => (isInside ? {} : { wires: linesOf(LINE) }),
    run: committee =>
      pace(committee, blocks, {
        ...labels,
        ...(isInside ? { by: 'tc netem', line: NETEM } : { by: 'proxy', why, line: LINE }),
      }),
  },
  restarts: {
    blockTime: 1,
    options: () => ({ tapped: true }),
    run: committee => restarts(committee, 5 * validators, labels),
  },
  kills: {
    blockTime: 0.5,
    options: () => ({ wires: linesOf({ latencyMs: 2, jitterMs: 2 }), tapped: true, accounts: 2 * validators }),
    run: committee => kills(committee, Number(values.kills), seed, labels),
  },
  instant: { blockTime: 0, run: committee => instant(committee, Number(values.runs), labels) },
  load: {
    blockTime: 1,
    options: () => ({ accounts: 200 }),
    run: committee => load(committee, Number(values.seconds), labels),
  },
  gossip: {
    blockTime: 1,
    options: () => ({ accounts: 200 }),
    run: committee =>
      gossip(
        committee,
        {
          fullNodes: Number(values['full-nodes']),
          perSecond: Number(values['per-second']),
          seconds: Number(values.seconds),
        },
        labels,
      ),
  },
  shadow: {
    blockTime: 1,
    starts: true,
    run: committee => shadow(committee, Number(values.seconds), seed, { ...labels, execution: values.execution }),
  },
  sync: { blockTime: 0.05, run: committee => sync(committee, blocks, labels) },
}

const mode = MODES[values.mode]
if (mode === undefined) throw new Error(`--mode is one of ${Object.keys(MODES).join(', ')}`)
if (values.mode === 'netem' && !isInside && why === undefined) {
  const [program, ...args] = overNetem(NETEM, process.argv)
  const { status } = spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, BENCH_OVER_NETEM: '1' } })
  process.exit(status ?? 1)
}
const committee = await Committee.open(validators, Number(values['block-time'] ?? mode.blockTime), {
  ...mode.options?.(),
  args: ['--execution', values.execution, '--metrics-port', '0', '--log-level', 'warn'],
})
try {
  if (mode.starts !== true) await committee.start()
  process.exitCode = (await mode.run(committee)) === false ? 1 : 0
} finally {
  await committee.close()
}
process.exit()
