import { SIMULATION_LIMITS } from '../../limits.ts'
import { describePlan } from '../plan/describe-plan.ts'
import { type DrawOptions, drawPlan } from '../plan/draw-plan.ts'
import { runSimulation } from '../simulation.ts'
import type { SimulationOutcome } from './run-outcome.ts'
import { shrink } from './shrink.ts'

/** Run that broke an invariant, shrunk for people to read. */
export interface Failure {
  /** Violation of the original run. */
  readonly text: string
  /** Schedule of the shrunk run. */
  readonly schedule: readonly string[]
  readonly lines: readonly string[]
  /** Number of runs used for shrinking. */
  readonly runs: number
}

export interface SeedReport {
  readonly outcome: SimulationOutcome
  readonly failure: Failure | null
}

/** Runs one seed, and shrinks it when it breaks an invariant. */
export const runSeed = async (options: DrawOptions): Promise<SeedReport> => {
  const plan = drawPlan(options)
  const outcome = await runSimulation(plan)
  const { violation } = outcome
  if (violation === null) return { outcome, failure: null }
  const breaks = async (candidate: typeof plan) => (await runSimulation(candidate)).violation?.rule ?? null
  const small = await shrink(plan, violation.rule, breaks, SIMULATION_LIMITS.shrinkRuns)
  const { lines, violation: again } = await runSimulation(small.plan, SIMULATION_LIMITS.traceLines)
  const schedule = [...describePlan(small.plan), `then ${again?.rule}: ${again?.text}`]
  return { outcome, failure: { text: `${violation.rule}: ${violation.text}`, schedule, lines, runs: small.runs } }
}
