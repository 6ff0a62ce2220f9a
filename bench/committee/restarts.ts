import type { Committee } from '../../test/support/committee.ts'
import { eventually, sleep } from '../../test/support/node-process.ts'
import { print, spreadOf } from './figures.ts'

const AWAY_MS = 3_000

/** Each validator in turn is killed and comes back: from the start of its process to its first vote that the others hear. false: contradictions. */
export const restarts = async (committee: Committee, count: number, labels: object): Promise<boolean> => {
  const { nodes, tap } = committee
  const ms: number[] = []
  for (let restart = 0; restart < count; restart++) {
    const node = nodes[restart % nodes.length]
    if (node === undefined) throw new Error('a committee has nodes')
    const votes = () => tap.testimony.counts.get(node.validator) ?? 0
    await node.kill()
    await sleep(AWAY_MS)
    const before = votes()
    const began = performance.now()
    await node.start(committee.others(node))
    await eventually('a vote', async () => votes() > before || undefined, { withinMs: 60_000, everyMs: 5 })
    ms.push(performance.now() - began)
    await sleep(AWAY_MS)
  }
  print('restart to voting', { ...labels, unit: 'ms', ...spreadOf(ms) })
  return tap.testimony.contradictions.length === 0
}
