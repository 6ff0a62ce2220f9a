import type { CouncilViolation } from './checks.ts'
import type { CouncilProfile } from './plan.ts'
import { simulateCouncil } from './simulate.ts'

export interface CouncilKill extends CouncilViolation {
  readonly seed: number
}

export interface KillOptions {
  readonly profile: CouncilProfile
  readonly seeds: number
  readonly cycles: number
}

/** Returns the first violation of the seeds from 1 on; null: none. */
export const firstKill = ({ profile, seeds, cycles }: KillOptions): CouncilKill | null => {
  for (let seed = 1; seed <= seeds; seed++) {
    const { violation } = simulateCouncil({ seed, profile, cycles })
    if (violation !== null) return { seed, ...violation }
  }
  return null
}
