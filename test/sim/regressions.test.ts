import { expect, test } from 'vitest'
import { drawPlan } from '../../src/sim/plan/draw.ts'
import { simulate } from '../../src/sim/simulation.ts'

/** Seeds that found something, with what it was. */
test.each([
  [
    'with one member silent, the others stayed rounds apart for ever: all timers had grown as far as they do',
    1_001_147,
  ],
  ['the same with a liar, in instant mode', 1_002_447],
])('%s', async (_, seed) => {
  expect((await simulate(drawPlan({ seed, profile: 'swarm', heights: 6 }))).violation).toBeNull()
})
