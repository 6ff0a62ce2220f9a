import { createRandom } from '@tandem/base/random.ts'
import { Chaos } from '../../test/support/chaos.ts'
import type { Committee } from '../../test/support/committee.ts'
import { print, spreadOf } from './figures.ts'

/** So many kill -9 over all nodes under load; answers whether nothing was lost and nobody contradicted himself. */
export const kills = async (committee: Committee, count: number, seed: number, labels: object): Promise<boolean> => {
  const chaos = new Chaos(committee, createRandom(seed))
  const began = performance.now()
  await chaos.begin()
  while (chaos.kills < count) await chaos.round()
  await chaos.end()
  const problems = await chaos.audit()
  const { testimony, evidence, messages } = committee.tap
  const ok = problems.length === 0 && chaos.waiting === 0 && evidence === 0
  print('kills', {
    ...{ ...labels, seed, ok, kills: chaos.kills, minutes: Math.round((performance.now() - began) / 6_000) / 10 },
    ...{ acknowledged: chaos.acknowledged, notIncluded: chaos.waiting, refusals: Object.fromEntries(chaos.refusals) },
    ...{
      head: await committee.nodes[0]?.number(),
      onMessage: messages,
      signed: [...testimony.counts.values()],
      evidence,
    },
    problems,
  })
  print('restart to voting', { ...labels, unit: 'ms', ...spreadOf(chaos.votingMs) })
  return ok
}
