/**
 * A council that changes at random for as long as asked, over real processes: members join by votes, leave, are killed and come back,
 * newcomers are voted in while their node is away, as long as a quorum is there. One JSON line for each change: how many serve, how long it
 * took until they did, and the longest wait for a block meanwhile. Ends with 1 when two nodes differ or no block comes.
 *   node bench/council.ts [changes] [--block-time 0.5] [--seed 1] [--most 7]     (default: 10)
 */
import { parseArgs } from 'node:util'
import { createRandom } from '@tandem/base/random.ts'
import { quorumOf } from '../src/rules/council/quorum.ts'
import { CouncilOfNodes } from '../test/support/council-nodes.ts'
import { sleep } from '../test/support/node-process.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'block-time': { type: 'string', default: '0.5' },
    seed: { type: 'string', default: '1' },
    most: { type: 'string', default: '7' },
  },
})
const changes = Number(positionals[0] ?? 10)
const most = Number(values.most)
const random = createRandom(Number(values.seed))

const council = await CouncilOfNodes.open(1, Number(values['block-time']), { roundTimeoutMs: 1_000 }, 'wasm')
process.once('SIGTERM', () => process.exit(1))

/** Validators in the council, those whose node runs, and the next key nobody has used. */
let members: readonly number[] = [0]
const running = new Set<number>([0])
let fresh = 1

/** Blocks of the first node, watched: the longest wait for one. */
const watch = () => {
  let isOver = false
  let longestMs = 0
  const watching = (async () => {
    let [seen, seenMs] = [await council.first.number(), performance.now()]
    while (!isOver) {
      await sleep(20)
      const number = await council.first.number()
      const nowMs = performance.now()
      longestMs = Math.max(longestMs, nowMs - seenMs)
      if (number > seen) [seen, seenMs] = [number, nowMs]
    }
  })()
  return async () => {
    isOver = true
    await watching
    return Math.round(longestMs)
  }
}

const hasQuorum = (of: readonly number[]): boolean =>
  of.filter(index => running.has(index)).length >= quorumOf(of.length)

const start = async (index: number): Promise<void> => {
  await council.run(index)
  running.add(index)
}

const join = async (): Promise<string> => {
  const count = Math.min(most - members.length, 1 + random.below(2))
  const newcomers = Array.from({ length: count }, () => fresh++)
  await council.fund(newcomers)
  const after = [...members, ...newcomers]
  // Some are away when their turn comes; where every vote is needed nobody may be.
  for (const index of newcomers) if (random.chance(0.6)) await start(index)
  while (!hasQuorum(after)) await start(after.find(index => !running.has(index)) as number)
  await council.admit(members, newcomers)
  members = after
  return `join ${newcomers.join()}`
}

const leave = async (): Promise<string> => {
  const leavers = members.slice(1).filter(() => random.chance(0.5))
  const after = members.filter(index => !leavers.includes(index))
  while (!hasQuorum(after)) await start(after.find(index => !running.has(index)) as number)
  await council.exit(leavers)
  members = after
  return `leave ${leavers.join()}`
}

await council.run(0)
await council.goOn([0], 2)
let failure: unknown
try {
  for (let change = 0; change < changes; change++) {
    const startedMs = performance.now()
    const stop = watch()
    const what = members.length === 1 || (members.length < most && random.chance(0.6)) ? await join() : await leave()
    await council.serving(members)
    const servingMs = Math.round(performance.now() - startedMs)
    const number = await council.goOn([...running], 4)
    const line = { change, what, number, serving: members.length, running: running.size, servingMs }
    console.log(JSON.stringify({ ...line, longestMs: await stop() }))
  }
} catch (error) {
  failure = error
}
await council.close()
if (failure !== undefined) throw failure
process.exit()
