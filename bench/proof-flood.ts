/**
 * Four validators in processes of their own, and floods of proof-of-work junk at the first of them: proof headers by gossip, then shares by
 * Stratum. One JSON line for each phase with the pace of blocks and the Argon2id hashes that the node computed. Headers follow every rule but
 * the work, so that each reaches the hash; nobody mines, and no header can be found by chance. The attackers share the machine, so their own
 * work slows blocks too: `attackerCpu` is their share of one core.
 *   node bench/proof-flood.ts [--seconds 10] [--headers 10000] [--shares 1000] [--block-time 1] [--seed 1]
 */
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { parseArgs } from 'node:util'
import { concatBytes, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { NETWORKS } from '../src/config/networks.ts'
import { createForkFilter } from '../src/network/identity/fork-id.ts'
import { parsePeerUrl } from '../src/network/identity/peer-url.ts'
import { encodeProofHeader } from '../src/primitives/proof-header.ts'
import { Committee, type NodeOfMany } from '../test/support/committee.ts'
import { assault, type Counts, pour } from '../test/support/hostile/lanes.ts'
import { type RawPeer, wire } from '../test/support/network/raw-peer.ts'
import { sleep } from '../test/support/node-process.ts'
import { scrape } from '../test/support/scrape.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    headers: { type: 'string', default: '10000' },
    shares: { type: 'string', default: '1000' },
    'block-time': { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
  },
})
const seconds = Number(values.seconds)
const random = createRandom(Number(values.seed))
/** Peers that flood, and the writes of each in a second. */
const PEERS = 8
const MINERS = 16
const WRITES = 10
const EASIEST = 2n ** 200n
/** Argon2id from the first header on. */
const FORKS = NETWORKS.devnet.forks.map(fork => (fork.name === 'nativeHash' ? { ...fork, height: 0 } : fork))
const COINBASE: Hex = `0x${'5e'.repeat(20)}`

const sent = { headers: 0, shares: 0 }

interface Anchor {
  readonly number: number
  readonly hash: Hex
}

/** Valid in everything but its work. */
const junkHeader = ({ number, hash }: Anchor): Uint8Array =>
  encodeProofHeader({
    version: 2,
    parentId: ZERO_HASH,
    height: 1,
    anchorNumber: number,
    anchorHash: hash,
    coinbase: COINBASE,
    target: EASIEST,
    extraNonce: randomBytes(8),
    nonce: randomBytes(8),
    mixHash: randomBytes(32),
  })

/** Pause that ends early with the signal. */
const writePause = (signal: AbortSignal): Promise<void> => (signal.aborted ? sleep(0) : sleep(1_000 / WRITES))

/** Each connection writes a tenth of a second's flood at once: it is ended for the first of them, and the peer comes back as another. */
const floodHeaders = (node: NodeOfMany, anchor: () => Anchor, signal: AbortSignal): Promise<Counts> => {
  const { chainId, genesisHash } = node.ready
  const target = { port: parsePeerUrl(node.url).port, domain: { chainId, genesisHash } }
  const fork = createForkFilter(genesisHash, FORKS).at(0)
  const perWrite = Math.ceil(Number(values.headers) / 10)
  let stock: { readonly hash: Hex; readonly bytes: Uint8Array } | undefined
  const flood = (): Uint8Array => {
    const at = anchor()
    if (stock?.hash !== at.hash) {
      const frames = Array.from({ length: perWrite }, () => wire('proofHeader', junkHeader(at)))
      stock = { hash: at.hash, bytes: concatBytes(...frames) }
    }
    return stock.bytes
  }
  const act = async (peer: RawPeer): Promise<void> => {
    sent.headers += perWrite
    await pour(peer, flood())
    await writePause(signal)
  }
  return assault({ target, random, signal }, PEERS, act, { forkHash: fork.hash, forkNext: fork.next })
}

/** A miner whose shares name a job that exists and claim any mix hash; half of the time it is disconnected for its faults. */
const floodShares = async (port: number, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    const socket: Socket = connect(port, '127.0.0.1')
    socket.on('error', () => {}).resume()
    const say = (id: number, method: string, params: readonly unknown[]) =>
      socket.write(`${JSON.stringify({ id, method, params })}\n`)
    say(1, 'mining.subscribe', ['junk', 'EthereumStratum/1.0.0'])
    say(2, 'mining.authorize', [COINBASE, 'x'])
    while (!signal.aborted && !socket.destroyed) {
      for (let at = 0; at < (2 * Number(values.shares)) / MINERS / WRITES; at++, sent.shares++)
        say(3, 'mining.submit', [COINBASE, '1', randomBytes(6).toString('hex'), randomBytes(32).toString('hex')])
      await writePause(signal)
    }
    socket.destroy()
    await sleep(100)
  }
}

const committee = await Committee.open(4, Number(values['block-time']), {
  args: ['--execution', 'wasm', '--metrics-port', '0', '--log-level', 'warn'],
  params: { proofChain: { maxTargetAfter: String(EASIEST) }, forks: { nativeHash: 0 } },
})
process.once('SIGTERM', () => process.exit(1))

const measure = async (phase: string, attack: (signal: AbortSignal) => Promise<unknown>): Promise<number> => {
  const [node] = committee.nodes as [NodeOfMany]
  const before = await scrape(node.ready.metrics)
  const [headersBefore, sharesBefore, cpu] = [sent.headers, sent.shares, process.cpuUsage()]
  const stop = new AbortController()
  const attacking = attack(stop.signal)
  const from = await node.number()
  let [seen, seenMs] = [from, performance.now()]
  const startMs = seenMs
  let longestMs = 0
  while (performance.now() - startMs < seconds * 1_000) {
    await sleep(20)
    const number = await node.number()
    if (number === seen) continue
    longestMs = Math.max(longestMs, (performance.now() - seenMs) / (number - seen))
    ;[seen, seenMs] = [number, performance.now()]
  }
  const { user, system } = process.cpuUsage(cpu)
  stop.abort()
  const after = await scrape(node.ready.metrics)
  const counts = await attacking
  const moved = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0)
  const intervalMs = Math.round((seenMs - startMs) / Math.max(1, seen - from))
  console.log(
    JSON.stringify({
      phase,
      blocks: seen - from,
      intervalMs,
      longestMs: Math.round(longestMs),
      rounds: moved('consensus_late_decisions_total'),
      argon2Hashes: moved('powchain_argon2_hashes'),
      headersPerSecond: Math.round((sent.headers - headersBefore) / seconds),
      sharesPerSecond: Math.round((sent.shares - sharesBefore) / seconds),
      nodeCpu:
        Math.round(((moved('process_cpu_user_seconds') + moved('process_cpu_system_seconds')) / seconds) * 100) / 100,
      attackerCpu: Math.round((user + system) / 1e4 / seconds) / 100,
      bans: moved('network_bans_total') + moved('stratum_bans_total'),
      ...((counts as object | undefined) ?? {}),
    }),
  )
  return intervalMs
}

try {
  const [first, ...rest] = committee.nodes as [NodeOfMany, ...NodeOfMany[]]
  await Promise.all([first.start(rest, ['--stratum', '0']), ...rest.map(node => node.start(committee.others(node)))])
  await first.reach(3)
  const head = async (): Promise<Anchor> => {
    const number = await first.number()
    return { number, hash: (await first.hashAt(number)) as Hex }
  }
  let anchor = await head()
  const refresh = setInterval(() => {
    void head().then(
      next => {
        anchor = next
      },
      () => {},
    )
  }, 200)
  const port = Number(new URL((first.ready as { readonly stratum?: string }).stratum as string).port)
  const calm = await measure('nothing', async signal => {
    while (!signal.aborted) await sleep(50)
  })
  const floods = [
    await measure('junk headers', signal => floodHeaders(first, () => anchor, signal)),
    await measure('junk shares', async signal => {
      await Promise.all(Array.from({ length: MINERS }, () => floodShares(port, signal)))
    }),
  ]
  clearInterval(refresh)
  const worst = Math.max(...floods) / calm - 1
  console.log(JSON.stringify({ slowerBy: `${Math.round(worst * 1_000) / 10} %` }))
} finally {
  await committee.close()
}
process.exit()
