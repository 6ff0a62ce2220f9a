/**
 * Four validators in processes of their own, and hostile peers at the first of them: for each attack one JSON line with the pace of
 * blocks, the memory of the node attacked, and what it thinks of its peers. The attackers share the machine, so their own work slows
 * blocks too: `attackerCpu` is their share of one core.
 *   node bench/hostile-peers.ts [--seconds 20] [--block-time 1] [--seed 1] [attack...]     (default: all)
 */
import { parseArgs } from 'node:util'
import { parsePeerUrl } from '../src/network/identity/peer-url.ts'
import { createRandom } from '../src/sim/random.ts'
import type { Hex } from '../src/util/bytes.ts'
import { CouncilOfNodes } from '../test/support/council-nodes.ts'
import { ATTACKS, type AttackName } from '../test/support/hostile/attacks.ts'
import { hostileKey } from '../test/support/hostile/key.ts'
import { sleep } from '../test/support/node-process.ts'
import { rssMegabytes, scrape } from '../test/support/scrape.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '20' },
    'block-time': { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
  },
})
const seconds = Number(values.seconds)
const random = createRandom(Number(values.seed))
const VALIDATORS = [0, 1, 2, 3]
const REST_MS = 2_000

const council = await CouncilOfNodes.open(
  VALIDATORS.length,
  Number(values['block-time']),
  { rewards: {}, roundTimeoutMs: 1_000 },
  'fast',
)
process.once('exit', () => void council.close())
process.once('SIGTERM', () => process.exit(1))

/** Offences and bans, as they stand. */
const standing = async (): Promise<ReadonlyMap<string, number>> => {
  const samples = await scrape(council.first.ready.metrics)
  return new Map([...samples].filter(([name]) => /^network_(offences_total|bans_total|known_peers)/.test(name)))
}

const measure = async (name: AttackName): Promise<void> => {
  const before = await standing()
  const rss: number[] = [await rssMegabytes(council.first.ready.metrics)]
  const stop = new AbortController()
  const { chainId, genesisHash } = council.first.ready
  const target = { port: parsePeerUrl(council.first.url).port, domain: { chainId, genesisHash } }
  const cpu = process.cpuUsage()
  const attack = ATTACKS[name]({ target, random, signal: stop.signal, member })
  await sleep(REST_MS)
  const from = await council.first.number()
  const fromMs = performance.now()
  const gaps: number[] = []
  let [seen, seenMs] = [from, fromMs]
  while (performance.now() - fromMs < seconds * 1_000) {
    await sleep(20)
    const number = await council.first.number()
    if (number === seen) continue
    const nowMs = performance.now()
    gaps.push((nowMs - seenMs) / (number - seen))
    ;[seen, seenMs] = [number, nowMs]
    if (number % 4 === 0) rss.push(await rssMegabytes(council.first.ready.metrics))
  }
  const { user, system } = process.cpuUsage(cpu)
  stop.abort()
  const counts = await attack
  const after = await standing()
  const rounds = await roundsAbove0(from + 1, seen)
  const moved = [...after].map(([key, value]) => [key.replace('network_', ''), value - (before.get(key) ?? 0)] as const)
  console.log(
    JSON.stringify({
      attack: name,
      blocks: seen - from,
      intervalMs: Math.round((seenMs - fromMs) / Math.max(1, seen - from)),
      longestMs: Math.round(Math.max(...gaps)),
      rounds,
      rssMiB: [Math.round(rss[0] ?? 0), Math.round(Math.max(...rss))],
      attackerCpu: Math.round((user + system) / 1e4 / (seconds + REST_MS / 1e3)) / 100,
      ...counts,
      ...Object.fromEntries(moved.filter(([, value]) => value !== 0)),
    }),
  )
  await sleep(REST_MS)
}

/** Blocks that took more than one round. */
const roundsAbove0 = async (from: number, to: number): Promise<number> => {
  let count = 0
  for (let number = from; number <= to; number++) {
    const at = `0x${number.toString(16)}` as Hex
    const block = await council.first.rpc<{ consensus: { round: number } }>(
      'native_getBlockWithConsensusInfoByNumber',
      at,
      false,
    )
    if (block.consensus.round > 0) count++
  }
  return count
}

const names = (positionals.length > 0 ? positionals : Object.keys(ATTACKS)) as readonly AttackName[]
for (const index of VALIDATORS) await council.run(index)
await council.goOn(VALIDATORS, 3)
const member = hostileKey(council, VALIDATORS.length - 1)
for (const name of names) await measure(name)
member.end()
await council.close()
process.exit()
