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
  readonly maxHeld: number
  readonly crashes: number
  readonly partitions: number
  readonly pauses: number
  readonly clockJumps: number
  readonly lost: number
  readonly duplicated: number
  readonly malformed: number
  readonly byzantineMessages: number
  readonly accusations: number
  /** Equal for equal runs. */
  readonly trace: string
  /** Last events as text, if requested. */
  readonly lines: readonly string[]
}
