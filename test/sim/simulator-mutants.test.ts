import { describe, expect, test } from 'vitest'
import { SIMULATION_LIMITS } from '../../devtools/limits.ts'
import { describePlan } from '../../devtools/sim/plan/describe-plan.ts'
import { drawPlan } from '../../devtools/sim/plan/draw-plan.ts'
import { runSimulation } from '../../devtools/sim/simulation.ts'
import { KILLS, type Kill, killsBy } from './mutants/kills.ts'
import { shrinkMutant, simulateMutant } from './mutants/run.ts'

describe('the simulator finds what each mutant breaks', () => {
  test.each(killsBy('simulator'))('%s', async (name, { options, rule }) => {
    const { violation } = await simulateMutant(name, options)
    console.log(JSON.stringify({ name, seed: options.seed, ...violation }))
    expect(violation?.rule).toBe(rule)
    // It is the mutant's doing: the engine as it is breaks nothing there.
    expect((await runSimulation(drawPlan(options))).violation).toBeNull()
  })
})

test('a failing seed is reduced to a small schedule that breaks the same rule', async () => {
  const { options } = KILLS['what is prepared not logged'] as Extract<Kill, { by: 'simulator' }>
  const { outcome, failure } = await shrinkMutant('what is prepared not logged', options)
  const whole = describePlan(drawPlan(options))
  console.log(`SEED=${outcome.seed}\n${failure?.schedule.join('\n')}\n${failure?.lines.slice(-12).join('\n')}`)
  expect(failure?.text).toMatch(/^amnesia: member \d forgot its commit/)
  expect(failure?.schedule.at(-1)).toMatch(/^then amnesia: member \d forgot its commit/)
  expect(failure?.schedule.length).toBeLessThan(whole.length / 2)
  expect(failure?.schedule.some(line => /member \d loses power/.test(line))).toBe(true)
  expect(failure?.lines.some(line => /says round change/.test(line))).toBe(true)
  expect(failure?.runs).toBeLessThanOrEqual(SIMULATION_LIMITS.shrinkRuns)
})
