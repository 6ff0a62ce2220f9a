import type { Committee, NodeOfMany } from '../../test/support/committee.ts'
import { eventually } from '../../test/support/node-process.ts'
import { print } from './figures.ts'

/** Makes so many empty blocks as fast as they come, then lets a new node fetch them. */
export const sync = async (committee: Committee, blocks: number, labels: object): Promise<boolean> => {
  const [first, ...others] = committee.nodes as [NodeOfMany, ...NodeOfMany[]]
  if (others.length === 0) throw new Error('a lone validator never falls silent: --validators 2 or more')
  const began = performance.now()
  await first.reach(blocks, 3_600_000)
  const madeMs = performance.now() - began
  // The committee falls silent: what is measured is nothing but the catching up.
  for (const node of others) await node.kill()
  const head = await first.number()
  const follower = await committee.add('follower')
  await follower.start([first])
  const startedMs = performance.now()
  await eventually('all blocks', async () => ((await follower.number()) >= head ? true : undefined), {
    withinMs: 3_600_000,
    everyMs: 10,
  })
  const ms = performance.now() - startedMs
  const same = (await follower.hashAt(head)) === (await first.hashAt(head))
  print('sync', {
    ...{
      ...labels,
      unit: 'blocks/s',
      rate: Math.round((head / ms) * 1_000),
      blocks: head,
      seconds: Math.round(ms) / 1_000,
    },
    ...{
      made: Math.round((blocks / madeMs) * 1_000),
      same,
    },
  })
  return same
}
