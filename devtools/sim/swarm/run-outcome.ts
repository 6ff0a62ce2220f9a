import type { Violation } from '../check/violation.ts'

/** Outcome of one run. */
export interface SimulationOutcome {
  readonly seed: number
  readonly violation: Violation | null
  /** Height of the longest chain. */
  readonly heights: number
  readonly events: number
  /** Virtual time: in total, and from the end of the faults until every node had progressed. */
  readonly virtualMs: number
  readonly healedMs: number
  readonly maxRound: number
  /** The same above height 1. */
  readonly maxLaterRound: number
  /** Most rounds of a height after the end of the faults. */
  readonly maxHealedRounds: number
  readonly maxHeld: number
  readonly crashes: number
  readonly partitions: number
  readonly pauses: number
  readonly clockJumps: number
  /** Heights left for blocks of block sync, and peers blamed for false ones. */
  readonly heightsLeft: number
  readonly forgeries: number
  readonly lost: number
  readonly duplicated: number
  readonly malformed: number
  readonly byzantineMessages: number
  readonly accusations: number
  /** Proof headers found by miners and included in blocks, and proposals refused because they leave one out. */
  readonly foundProofs: number
  readonly includedProofs: number
  readonly omissions: number
  /** Equal for equal runs. */
  readonly trace: string
  /** Last events as text, if requested. */
  readonly lines: readonly string[]
}

const SUMMED = [
  'heights',
  'events',
  'virtualMs',
  'crashes',
  'partitions',
  'pauses',
  'clockJumps',
  'heightsLeft',
  'forgeries',
  'lost',
  'duplicated',
  'malformed',
  'byzantineMessages',
  'accusations',
  'foundProofs',
  'includedProofs',
  'omissions',
] as const
const HIGHEST = ['healedMs', 'maxRound', 'maxLaterRound', 'maxHealedRounds', 'maxHeld'] as const

type Counts = { -readonly [Name in (typeof SUMMED)[number] | (typeof HIGHEST)[number]]: number }

export interface Totals extends Counts {
  seeds: number
  violations: number
}

/** Totals of many runs: sums, and of the last five counts the maximum. */
export const noTotals = (): Totals => {
  const counts = Object.fromEntries([...SUMMED, ...HIGHEST].map(name => [name, 0])) as unknown as Counts
  return { seeds: 0, violations: 0, ...counts }
}

export const addOutcome = (totals: Totals, outcome: SimulationOutcome): void => {
  totals.seeds++
  if (outcome.violation !== null) totals.violations++
  for (const name of SUMMED) totals[name] += outcome[name]
  for (const name of HIGHEST) totals[name] = Math.max(totals[name], outcome[name])
}
