import type { SimulationOutcome } from './run-outcome.ts'

const SUMMED = [
  'heights',
  'events',
  'virtualMs',
  'crashes',
  'partitions',
  'pauses',
  'clockJumps',
  'lost',
  'duplicated',
  'malformed',
  'byzantineMessages',
  'accusations',
] as const
const HIGHEST = ['healedMs', 'maxRound', 'maxHeld'] as const

type Counts = { -readonly [Name in (typeof SUMMED)[number] | (typeof HIGHEST)[number]]: number }

export interface Totals extends Counts {
  seeds: number
  violations: number
}

/** Totals of many runs: sums, and of the last three counts the maximum. */
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
