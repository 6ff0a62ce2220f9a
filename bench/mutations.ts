/**
 * Mutated frames and handshakes at the network of a node in this process, each on a connection of its own: all that a node does with them
 * but encryption. One JSON line; ends with 1 when anything throws or is logged as an error, when an honest peer is not
 * answered in between, or when memory grows.
 *   node bench/mutations.ts [cases] [--seed 1]     (default: 1,000,000)
 */
import { randomFillSync } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { concatBytes } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { MemoryNode } from '../test/support/hostile/memory-node.ts'
import { mutate, talk } from '../test/support/hostile/mutate.ts'
import { wire } from '../test/support/network/raw-peer.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '1' } },
})
const cases = Number(positionals[0] ?? 1_000_000)
const random = createRandom(Number(values.seed))
const BATCH = 1_000
const MOST_GROWTH_MIB = 100

const node = new MemoryNode()
const someone = () => node.connect(randomFillSync(new Uint8Array(32)))
const rssMib = () => process.memoryUsage().rss / 2 ** 20
const ends = { malformed: 0, banned: 0, other: 0, errors: 0 }
let inHandshake = 0

/** Counts what was logged, and forgets it. */
const count = (): void => {
  for (const { level, fields } of node.log.lines.splice(0)) {
    if (level === 'error') ends.errors++
    const reason = fields['reason']
    if (reason === 'malformed') ends.malformed++
    else if (reason === 'banned') ends.banned++
    else if (reason !== undefined) ends.other++
  }
}

/** Somebody honest comes, asks and is answered; nobody else is there. */
const isServed = async (): Promise<boolean> => {
  const friend = someone()
  friend.push(node.greeting(friend.id))
  const before = friend.sentBytes
  friend.push(wire('getTransactions', [`0x${'ab'.repeat(32)}`], 1))
  await turn()
  const isAlone = node.peerCount === 1
  friend.close()
  return isAlone && friend.sentBytes > before
}

const startedMs = performance.now()
let warmMib = 0
for (let at = 0; at < cases; at++) {
  const peer = someone()
  if (random.chance(0.6)) {
    peer.push(concatBytes(node.greeting(peer.id), mutate(talk(), random)))
  } else {
    inHandshake++
    peer.push(mutate(concatBytes(node.greeting(peer.id), talk()), random))
  }
  peer.close()
  if (at % BATCH !== BATCH - 1) continue
  await turn()
  count()
  if (!(await isServed()) || ends.errors > 0)
    throw new Error(`case ${at}: ${JSON.stringify(ends)}, ${node.peerCount} peers`)
  if (at < cases / 5) warmMib = rssMib()
  if ((at + 1) % (100 * BATCH) === 0) process.stderr.write(`${at + 1} cases, ${Math.round(rssMib())} MiB\n`)
}
const seconds = (performance.now() - startedMs) / 1_000
const grownMib = Math.round(rssMib() - warmMib)
console.log(
  JSON.stringify({ bench: 'mutations', cases, inHandshake, ...ends, perSecond: Math.round(cases / seconds), grownMib }),
)
process.exit(grownMib > MOST_GROWTH_MIB ? 1 : 0)
