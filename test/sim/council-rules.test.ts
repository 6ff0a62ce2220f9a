import { describe, expect, test } from 'vitest'
import { SEED } from '../support/seed.ts'
import { COUNCIL_MUTANTS, type CouncilMutantName, killCouncilMutant } from './council/mutants.ts'
import { COUNCIL_PROFILES } from './council/plan.ts'
import { CYCLE_BLOCKS, simulateCouncil } from './council/simulate.ts'

/** Heights of each profile; `COUNCIL_HEIGHTS=100000` for the long run, and more. */
const HEIGHTS = Number(process.env['COUNCIL_HEIGHTS'] ?? 30_000)
const CYCLES = 500

describe('councils of 4 to 256 never halt, starve nobody and keep idle members from proposing', () => {
  test.each(COUNCIL_PROFILES)(
    '%s',
    profile => {
      let heights = 0
      let worstRound = 0
      for (let seed = SEED; heights < HEIGHTS; seed++) {
        const outcome = simulateCouncil({ seed, profile, cycles: Math.min(CYCLES, Math.ceil(HEIGHTS / CYCLE_BLOCKS)) })
        expect(outcome.violation, `SEED=${seed}`).toBeNull()
        heights += outcome.heights
        worstRound = Math.max(worstRound, outcome.worstRound)
      }
      console.log(JSON.stringify({ profile, heights, worstRound }))
    },
    120_000 + HEIGHTS,
  )
})

describe('the simulation of councils finds each wrong rule within 250 seeds', () => {
  test.each(Object.keys(COUNCIL_MUTANTS) as readonly CouncilMutantName[])(
    '%s',
    async name => {
      const kill = await killCouncilMutant(name, 250)
      console.log(JSON.stringify({ name, ...kill }))
      expect(kill).not.toBeNull()
    },
    120_000,
  )
})
