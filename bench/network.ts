/**
 * Time of a small vote between members in processes of their own over the loopback, one JSON line, milliseconds one way (half of there
 * and back): alone, and beside blocks that everybody asks
 * for. `last` is there and back of the slowest member.
 *   node bench/network.ts [members] [votes]
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Prepare } from '../src/primitives/consensus/vote.ts'
import { encodeRlp } from '../src/primitives/rlp/rlp.ts'
import { NetNode, until } from '../test/support/network/net-node.ts'

const vote = (sender: number, round: number): Prepare => ({
  type: 'prepare',
  number: 1,
  round,
  blockHash: `0x${'ab'.repeat(32)}`,
  sender,
  signature: new Uint8Array(65).fill(1),
})

/** Votes from this round on come beside blocks that everybody asks for, ten answers of two megabytes a second each. */
const BUSY_ROUND = 1_000_000
const ASK_MS = 100
/** A vote that is not answered by then is lost: of two connections one was closed. */
const PATIENCE_MS = 1_000

/** Says back to whoever speaks. */
const echo = async (member: number, committee: number, first: string): Promise<void> => {
  const staticPeers = [JSON.parse(first)]
  const { network } = new NetNode({ member, committee, staticPeers })
  let isBusy = false
  network.consensus.onMessage((message, from) => {
    if (message.type !== 'prepare') return
    isBusy ||= message.round >= BUSY_ROUND
    network.consensus.send(from, vote(member, message.round))
  })
  await network.start()
  setInterval(() => {
    if (isBusy) network.request('getBlocks', { from: 0, count: 4 }).catch(() => {})
  }, ASK_MS)
}

/** Half a megabyte that looks like a block from outside. */
const LARGE = encodeRlp([new Uint8Array(500_000)])
const CERTIFICATE = { round: 0, bitmap: Uint8Array.of(1), seals: [new Uint8Array(65)] }

const measure = async (committee: number, votes: number): Promise<void> => {
  const node = new NetNode({ member: 0, committee })
  node.verdict = 'ignore'
  await node.network.start()
  const children: ChildProcess[] = []
  for (let member = 1; member < committee; member++) {
    const child = fork(
      fileURLToPath(import.meta.url),
      ['echo', member, committee, JSON.stringify(node.address)].map(String),
    )
    children.push(child)
  }
  await until('a mesh', () => node.network.peerCount === committee - 1)
  const alone = await rounds(node, committee, votes, 0)
  node.chain.push(...Array.from({ length: 4 }, () => ({ block: LARGE, certificate: CERTIFICATE })))
  const busy = await rounds(node, committee, votes, BUSY_ROUND)
  const { rss } = process.memoryUsage()
  console.log(JSON.stringify({ committee, votes, alone, busy, rssMiB: Math.round(rss / 1024 / 1024) }))
  for (const child of children) child.kill()
  await Promise.all(children.map(child => once(child, 'exit')))
  await node.network.stop()
}

/** One vote after the other. */
const rounds = async (node: NetNode, committee: number, votes: number, from: number) => {
  const oneWay: number[] = []
  const last: number[] = []
  let sentMs = 0
  let answers = 0
  let lost = 0
  let done = () => {}
  let round = from
  const unsubscribe = node.network.consensus.onMessage(message => {
    if (message.type !== 'prepare' || message.round !== round) return
    oneWay.push((performance.now() - sentMs) / 2)
    if (++answers === committee - 1) done()
  })
  for (; round < from + votes; round++) {
    answers = 0
    const all = new Promise<void>(resolve => {
      done = resolve
    })
    sentMs = performance.now()
    node.network.consensus.broadcast(vote(0, round))
    const timer = setTimeout(() => {
      lost++
      done()
    }, PATIENCE_MS)
    await all
    clearTimeout(timer)
    last.push(performance.now() - sentMs)
    await new Promise(resolve => setTimeout(resolve, 2))
  }
  unsubscribe()
  const figures = (values: readonly number[]) => ({
    p50: rounded(quantile(values, 0.5)),
    p99: rounded(quantile(values, 0.99)),
  })
  return { oneWay: figures(oneWay), last: figures(last), lost }
}

const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN

const rounded = (ms: number): number => Math.round(ms * 1_000) / 1_000

const [mode = '4', second = '1000', third = '4', first = ''] = process.argv.slice(2)
if (mode === 'echo') await echo(Number(second), Number(third), first)
else await measure(Number(mode), Number(second))
