import { expect, test } from 'vitest'
import { BREAKING_SCRIPTS } from '../../devtools/sim/byzantine/scripts.ts'
import { drawPlan } from '../../devtools/sim/plan/draw-plan.ts'
import type { ProfileName } from '../../devtools/sim/plan/profiles.ts'
import { runSimulation } from '../../devtools/sim/simulation.ts'

/** Seeds that found something, with what it was. */
test.each<[what: string, seed: number, profile: ProfileName]>([
  [
    'with one member silent, the others stayed rounds apart for ever: all timers had grown as far as they do',
    1_001_147,
    'swarm',
  ],
  ['the same with a Byzantine member, in instant mode', 1_002_447, 'swarm'],
  [
    'a log lost after a crash at the first height, before the watermark was on disk, looked like a new node',
    2_715,
    'crashes',
  ],
  ['the same, with other members away', 4_112, 'crashes'],
  [
    'after a block of a committee without it, a member logged a decision before that block was on disk: it did not start again',
    2_689,
    'swarm',
  ],
  ['a block proposed again while its fresh proposal was being validated counted as waste', 7_358, 'swarm'],
  ['the same, after members stood still', 9_887, 'swarm'],
  ['the rest of a turn in which the power went counted as work on a block of no parent', 715_921, 'council'],
])('%s', async (_, seed, profile) => {
  const plan = drawPlan({ seed, profile, heights: 6 })
  // As they were found: scripts added since change what happens.
  const byzantine = plan.byzantine.map(member => ({
    ...member,
    scripts: member.scripts.filter(name => BREAKING_SCRIPTS.includes(name)),
  }))
  expect((await runSimulation({ ...plan, byzantine })).violation).toBeNull()
})
