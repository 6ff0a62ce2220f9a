import { describe, expect, test } from 'vitest'
import { type Outcome, runCluster, type Scenario } from './cluster.ts'

/** `SEED=n` runs that seed alone; a failure prints the seed. `SIM_SEEDS` sets how many run. */
const only = process.env['SEED']
const count = Number(process.env['SIM_SEEDS'] ?? 100)
const seeds = only === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(only)]

const runSeeds = (scenario: Omit<Scenario, 'seed'>): readonly Outcome[] =>
  seeds.map(seed => {
    try {
      return runCluster({ ...scenario, seed })
    } catch (error) {
      throw new Error(`SEED=${seed} size ${scenario.size}, ${scenario.byzantine} byzantine`, { cause: error })
    }
  })

const report = (name: string, outcomes: readonly Outcome[], startedMs: number): void => {
  const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0)
  const worst = (of: (outcome: Outcome) => number) => Math.max(...outcomes.map(of))
  console.log(
    JSON.stringify({
      name,
      seeds: outcomes.length,
      heights: sum(outcome => outcome.heights),
      events: sum(outcome => outcome.events),
      maxRound: worst(outcome => outcome.maxRound),
      maxHeld: worst(outcome => outcome.maxHeld),
      worstRecoveryMs: worst(outcome => outcome.healedMs),
      ms: Math.round(performance.now() - startedMs),
    }),
  )
}

const scenarios = [
  { size: 1, byzantine: 0 },
  { size: 2, byzantine: 0 },
  { size: 3, byzantine: 0 },
  { size: 4, byzantine: 0 },
  { size: 4, byzantine: 1 },
  { size: 5, byzantine: 1 },
  { size: 6, byzantine: 1 },
  { size: 7, byzantine: 2 },
]

describe('a committee under loss, duplication, partitions, crashes and lies', () => {
  test.each(scenarios)('$size members, $byzantine byzantine: agrees, and advances once healed', scenario => {
    const startedMs = performance.now()
    const outcomes = runSeeds({ ...scenario, faultsMs: 15_000, recoverHeights: 5, recoverMs: 60_000 })
    report(`n=${scenario.size} b=${scenario.byzantine}`, outcomes, startedMs)
    for (const outcome of outcomes) expect(outcome.maxHeld).toBeLessThan(3_000)
  })

  test('one seed is one run', () => {
    const scenario = { size: 4, byzantine: 1, faultsMs: 10_000, recoverHeights: 3, recoverMs: 60_000 }
    for (const seed of seeds.slice(0, 5))
      expect(runCluster({ ...scenario, seed })).toEqual(runCluster({ ...scenario, seed }))
  })
})
