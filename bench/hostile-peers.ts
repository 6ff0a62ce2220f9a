/**
 * Four validators in processes of their own, and hostile peers at the first of them: for each attack one JSON line with the pace of
 * blocks, the memory of the node attacked, and what it thinks of its peers. The attackers share the machine, so their own work slows
 * blocks too: `attackerCpu` is their share of one core.
 *   node bench/hostile-peers.ts [--seconds 20] [--block-time 1] [--seed 1] [attack...]     (default: all)
 * With --minutes: two full nodes beside the four, two attackers in processes of their own (one at the first validator, one at the first
 * full node), and what honest users see: RPC, /health, handshakes of peers over a line of 120 ms, and the time until a member that was
 * restarted in the middle has all others again.
 *   node bench/hostile-peers.ts --minutes 10 earlyBytes memberRecords records silent falseHeads
 */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Hex } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { parsePeerUrl } from '../src/network/identity/peer-url.ts'
import { CouncilOfNodes } from '../test/support/council-nodes.ts'
import { ATTACKS, type AttackName } from '../test/support/hostile/attacks.ts'
import { hostileKey } from '../test/support/hostile/key.ts'
import { sleep } from '../test/support/node-process.ts'
import { rssMegabytes, scrape } from '../test/support/scrape.ts'
import { probe, quantile } from './hostile-peers/probes.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '20' },
    minutes: { type: 'string' },
    'block-time': { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
  },
})
const isLong = values.minutes !== undefined
const seconds = isLong ? 60 * Number(values.minutes) : Number(values.seconds)
const random = createRandom(Number(values.seed))
const VALIDATORS = [0, 1, 2, 3]
/** Nodes of keys that are not in the council. */
const FULL_NODES = isLong ? [4, 5] : []
const REST_MS = 2_000

const council = await CouncilOfNodes.open(
  VALIDATORS.length,
  Number(values['block-time']),
  { rewards: {}, roundTimeoutMs: 1_000 },
  'wasm',
)
process.once('exit', () => void council.close())
process.once('SIGTERM', () => process.exit(1))

/** Offences and bans, as they stand. */
const standing = async (): Promise<ReadonlyMap<string, number>> => {
  const samples = await scrape(council.first.ready.metrics)
  return new Map([...samples].filter(([name]) => /^network_(penalties_total|bans_total|known_peers)/.test(name)))
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

/** Figures of an attack that lasts minutes. */
const measureLong = async (name: AttackName): Promise<void> => {
  const { chainId, genesisHash } = council.first.ready
  const attackers = [council.first, council.node(4)].map((node, index) => attackerAt(name, node.url, index))
  const probes = await probe(council.first.ready.http, parsePeerUrl(council.first.url).port, { chainId, genesisHash })
  await sleep(REST_MS)
  const intervals: number[] = []
  const fromMs = performance.now()
  let [seen, seenMs] = [await council.first.number(), fromMs]
  let remesh: Promise<number> | undefined
  while (performance.now() - fromMs < seconds * 1_000) {
    await sleep(20)
    if (remesh === undefined && performance.now() - fromMs > seconds * 500) remesh = remeshMs()
    const number = await council.first.number()
    if (number === seen) continue
    const nowMs = performance.now()
    intervals.push((nowMs - seenMs) / (number - seen))
    ;[seen, seenMs] = [number, nowMs]
  }
  for (const attacker of attackers) attacker.kill()
  const figures = { intervalP50Ms: quantile(intervals, 0.5), intervalP99Ms: quantile(intervals, 0.99) }
  const remeshed = Math.round((await remesh) ?? Number.NaN)
  console.log(JSON.stringify({ attack: name, seconds, ...figures, ...(await probes.stop()), remeshMs: remeshed }))
  await sleep(REST_MS)
}

const running = new Set<ChildProcess>()
process.once('exit', () => running.forEach(attacker => void attacker.kill()))

const attackerAt = (name: AttackName, url: string, index: number): ChildProcess => {
  const { chainId, genesisHash } = council.first.ready
  const file = fileURLToPath(new URL('hostile-peers/attacker.ts', import.meta.url))
  const attacker = fork(file, [name, parsePeerUrl(url).port, chainId, genesisHash, index].map(String), {
    stdio: 'ignore',
  })
  running.add(attacker)
  return attacker
}

/** Restarts the second validator; returns the time until it is connected to the other three again. */
const remeshMs = async (): Promise<number> => {
  await council.node(1).kill()
  await council.run(1)
  const beganMs = performance.now()
  while (((await scrape(council.node(1).ready.metrics)).get('network_connected_validators') ?? 0) < 3) await sleep(50)
  return performance.now() - beganMs
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
for (const index of [...VALIDATORS, ...FULL_NODES]) await council.run(index)
await council.goOn(VALIDATORS, 3)
const member = hostileKey(council, VALIDATORS.length - 1)
for (const name of names) await (isLong ? measureLong(name) : measure(name))
member.end()
await council.close()
process.exit()
