import { availableParallelism } from 'node:os'
import { expect, test } from 'vitest'
import { drawPlan } from '../../devtools/sim/plan/draw-plan.ts'
import { PROFILE_NAMES, type ProfileName } from '../../devtools/sim/plan/profiles.ts'
import { addOutcome, noTotals, type Totals } from '../../devtools/sim/swarm/run-outcome.ts'
import type { Failure } from '../../devtools/sim/swarm/run-seed.ts'
import { runSeeds } from '../../devtools/sim/swarm/worker-pool.ts'
import { seedRange } from '../support/seed.ts'

interface Trial {
  readonly totals: Totals
  /** Seeds of which some height was not decided in its first round. */
  readonly slow: readonly number[]
  readonly failures: readonly (Failure & { readonly seed: string })[]
}

const run = async (profile: ProfileName, count: number, heights: number, size?: number): Promise<Trial> => {
  const totals = noTotals()
  const failures: Trial['failures'][number][] = []
  const slow: number[] = []
  const beganMs = performance.now()
  await runSeeds({
    ...seedRange(count),
    profile,
    heights,
    size,
    jobs: availableParallelism(),
    onReport: ({ outcome, failure }) => {
      addOutcome(totals, outcome)
      if (outcome.maxLaterRound > 0) slow.push(outcome.seed)
      if (failure !== null) failures.push({ ...failure, seed: `SEED=${outcome.seed}` })
    },
  })
  console.log(JSON.stringify({ profile, ...totals, ms: Math.round(performance.now() - beganMs) }))
  return { totals, failures, slow }
}

/** `SIM_SEEDS=20000`: the long form. */
const SWARM = 500

test('committees under any trouble agree, and go on once it ends', async () => {
  const { totals, failures } = await run('swarm', SWARM, 6)
  expect(failures).toEqual([])
  expect(totals.heights).toBeGreaterThan(totals.seeds * 3)
  if (totals.seeds < SWARM) return
  // Whatever can go wrong went wrong often.
  const {
    crashes,
    partitions,
    pauses,
    clockJumps,
    lost,
    duplicated,
    byzantineMessages,
    malformed,
    accusations,
    foundProofs,
    includedProofs,
    maxRound,
  } = totals
  const counts = {
    crashes,
    partitions,
    pauses,
    clockJumps,
    lost,
    duplicated,
    byzantineMessages,
    malformed,
    accusations,
    foundProofs,
    includedProofs,
  }
  for (const [what, count] of Object.entries(counts)) expect(count, what).toBeGreaterThan(totals.seeds / 4)
  expect(totals.omissions).toBeGreaterThan(totals.seeds / 40)
  expect(maxRound).toBeGreaterThan(5)
}, 300_000)

test.each(PROFILE_NAMES.filter(name => name !== 'swarm'))('%s alone', async profile => {
  const { failures, slow } = await run(profile, 20, 6)
  expect(failures).toEqual([])
  if (profile !== 'calm') return
  // With nothing wrong every block above the first is decided in its first round, unless executing it may take as long as one.
  const plans = slow.map(seed => drawPlan({ seed, profile, heights: 6 }))
  expect(plans.filter(({ executionMs, roundTimeoutMs }) => roundTimeoutMs > 20 * executionMs)).toEqual([])
  expect(slow.length).toBeLessThan(5)
})

test('a thousand heights with other validators every few blocks', async () => {
  const { totals, failures } = await run('council', 1, 1_000, 4)
  expect(failures).toEqual([])
  expect(totals.heights).toBeGreaterThanOrEqual(1_000)
}, 120_000)
