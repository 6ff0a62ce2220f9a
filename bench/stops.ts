/**
 * Stops of followers under load, over real processes: one validator makes blocks of transactions, followers start, take part in all of it
 * (blocks, calls, traces, logs, proofs, transactions) and are told to stop at a random moment. One JSON line: exit codes, signals and
 * times of the stops; ends with 1 when a process did not end by itself with code 0.
 *   node bench/stops.ts [stops] [--followers 2] [--seed 1] [--most-ms 2000] [--early]     (default: 50)
 * `--early`: also before the node is ready.
 */
import { parseArgs } from 'node:util'
import type { Hex } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { Committee, type NodeOfMany } from '../test/support/committee.ts'
import { deployToken, startLoad } from '../test/support/load.ts'
import { sleep } from '../test/support/node-process.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    followers: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
    'most-ms': { type: 'string', default: '2000' },
    early: { type: 'boolean', default: false },
  },
})
const stops = Number(positionals[0] ?? 50)
const seed = Number(values.seed)
const mostMs = Number(values['most-ms'])
const random = createRandom(seed)

const committee = await Committee.open(1, 0.25, { accounts: 6, args: ['--execution', 'wasm'] })
process.once('SIGTERM', () => process.exit(1))
const [validator] = committee.nodes as [NodeOfMany]
await validator.start([])
const target = { http: validator.ready.http, chainId: validator.ready.chainId, accounts: committee.accounts }
const token = await deployToken(target)
const load = startLoad({
  ...{ node: target, token, random: () => random.next(), pauseMs: 40 },
  onAcknowledged: () => {},
  onRefused: () => {},
})

/** Requests of clients; each is repeated until the node is gone. */
const questions = (
  hash: Hex,
): readonly (readonly [method: string, params: readonly unknown[], operator?: boolean])[] => [
  ['eth_call', [{ to: token.address, data: `0x70a08231${'00'.repeat(32)}` }, 'latest']],
  ['eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }]],
  ['eth_getProof', [token.address, ['0x0', '0x1'], 'latest']],
  ['eth_getBlockByNumber', ['latest', true]],
  ['eth_estimateGas', [{ from: committee.accounts[0]?.address, to: token.address, data: '0xa6f2ae3a', value: '0x1' }]],
  ['debug_traceTransaction', [hash, {}], true],
  ['debug_traceBlockByNumber', ['latest', {}], true],
]

const plague = async (node: NodeOfMany, isOver: () => boolean): Promise<void> => {
  const block = await validator.rpc<{ transactions: readonly Hex[] }>('eth_getBlockByNumber', 'latest', false)
  const hash = block.transactions[0] ?? (`0x${'00'.repeat(32)}` as Hex)
  const lanes = questions(hash).map(async ([method, params, operator]) => {
    while (!isOver()) {
      try {
        await (operator ? node.operator(method, ...params) : node.rpc(method, ...params))
      } catch {
        // Refused, or the node is gone.
        await sleep(5)
      }
    }
  })
  await Promise.all(lanes)
}

const outcomes = new Map<string, number>()
const times: number[] = []
let left = stops

const follow = async (index: number): Promise<void> => {
  const node = await committee.add(`follower-${index}`)
  while (left-- > 0) {
    const started = node.start([validator])
    const isEarly = values.early && random.chance(0.3)
    if (isEarly) await Promise.race([started.catch(() => undefined), sleep(random.next() * mostMs)])
    else await started
    let isOver = false
    const plagued = isEarly ? Promise.resolve() : plague(node, () => isOver)
    await sleep(random.next() * mostMs)
    const { code, ms } = await node.stop()
    await started.catch(() => undefined)
    isOver = true
    await plagued
    times.push(ms)
    const signal = node.endedBy
    const outcome = signal === null ? `code ${code}` : `signal ${signal}`
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    if (outcome !== 'code 0')
      process.stderr.write(
        `${outcome} after ${Math.round(ms)} ms${isEarly ? ', early' : ''}\n${node.log.slice(-4_000)}\n`,
      )
  }
}

await Promise.all(Array.from({ length: Number(values.followers) }, (_, index) => follow(index)))
await load.stop()
await committee.close()
times.sort((a, b) => a - b)
const at = (share: number) => Math.round(times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0)
const ms = { p50: at(0.5), p99: at(0.99), max: at(1) }
process.stdout.write(
  `${JSON.stringify({ bench: 'stops', seed, stops: times.length, ...Object.fromEntries(outcomes), ms })}\n`,
)
process.exit(outcomes.size === 1 && outcomes.has('code 0') ? 0 : 1)
