/**
 * Invariants of a run (docs/design/consensus.md#invariants); `finished` is a failed engine, `prompt` and `jump` its rules
 * of 1.5.
 */
export const RULES = [
  'agreement',
  'certificate',
  'lock',
  'chain',
  'validity',
  'timestamp',
  'equivocation',
  'amnesia',
  'durability',
  'evidence',
  'jump',
  'prompt',
  'memory',
  'liveness',
  'gave up',
] as const
export type Rule = (typeof RULES)[number]

export interface Violation {
  readonly rule: Rule
  readonly text: string
}

/** Receives violations; the first one counts. Never throws: it is called from within the engine, which would catch it. */
export type Report = (rule: Rule, text: string) => void
