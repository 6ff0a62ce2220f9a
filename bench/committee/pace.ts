import { Worker } from 'node:worker_threads'
import type { Committee, NodeOfMany } from '../../test/support/committee.ts'
import { sleep } from '../../test/support/node-process.ts'
import { scrape } from '../../test/support/scrape.ts'
import { deviationOf, forkOf, meanOf, print, roundsOf, spreadOf } from './figures.ts'

const POLL_MS = 50
/** Figures are asked for in the quiet part of a second. */
const AFTER_HEAD_MS = 300
/** Until all have met, and the code is warm. */
const FIRST_BLOCKS = 10

/** So many blocks of an undisturbed committee: their pace, their rounds, and how long each node took from proposal to decision; false: a fork. */
export const pace = async (committee: Committee, blocks: number, labels: object): Promise<boolean> => {
  const { nodes } = committee
  const [first] = nodes as [NodeOfMany]
  const from = FIRST_BLOCKS + 1
  await first.reach(FIRST_BLOCKS, 120_000)
  const heads = new Worker(new URL('../soak/heads.ts', import.meta.url), { workerData: { url: first.ready.ws } })
  const decisionMs = nodes.map((): number[] => [])
  for (let head = await first.number(); head < FIRST_BLOCKS + blocks; ) {
    const now = await first.number()
    if (now > head) {
      head = now
      await sleep(AFTER_HEAD_MS)
      const seconds = await Promise.all(
        nodes.map(async ({ ready }) => (await scrape(ready.metrics)).get('consensus_last_decision_seconds')),
      )
      for (const [at, value] of seconds.entries()) decisionMs[at]?.push((value ?? Number.NaN) * 1_000)
    }
    await sleep(POLL_MS)
  }
  const to = await first.number()
  const intervals = await new Promise<number[]>(resolve => {
    heads.once('message', resolve)
    heads.postMessage('intervals')
  })
  await heads.terminate()
  const rounds = await roundsOf(first, from, to)
  const late = rounds.flatMap((round, at) => (round > 0 ? [from + at] : []))
  print('interval', {
    ...labels,
    unit: 'ms',
    mean: meanOf(intervals),
    deviation: deviationOf(intervals),
    ...spreadOf(intervals),
  })
  const fork = await forkOf(nodes)
  print('rounds', {
    ...labels,
    blocks: rounds.length,
    late: late.length,
    at: late.slice(0, 20),
    fork,
  })
  print('agreement', {
    ...labels,
    unit: 'ms',
    ...spreadOf(decisionMs.flat()),
    p50OfNodes: decisionMs.map(ms => spreadOf(ms).p50),
  })
  return fork === null
}
