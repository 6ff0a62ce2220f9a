import type { Violation } from './check/violation.ts'

/** How one run went. */
export interface SimulationOutcome {
  readonly seed: number
  readonly violation: Violation | null
  /** Of the longest chain. */
  readonly heights: number
  readonly events: number
  /** Virtual: all of it, and from the end of the faults until everybody had gone on. */
  readonly virtualMs: number
  readonly healedMs: number
  readonly maxRound: number
  readonly maxHeld: number
  readonly crashes: number
  readonly splits: number
  readonly pauses: number
  readonly leaps: number
  readonly lost: number
  readonly duplicated: number
  readonly malformed: number
  readonly lies: number
  readonly accusations: number
  /** Equal for equal runs. */
  readonly trace: string
  /** The last of what happened, where asked for. */
  readonly lines: readonly string[]
}
