/**
 * Invariants of a run (docs/design/consensus.md#invariants); `gave up` is a failed engine, `prompt`, `jump`, `body` and `requests` its
 * rules of the state machine, `sync` an honest peer of block sync that is blamed, `pace` and `waste` the cost of slow blocks, `proof` the proof headers of decided blocks, and `omission` the vote rule and the gossip
 * of pending ones.
 */
const RULES = [
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
  'proof',
  'omission',
  'jump',
  'prompt',
  'body',
  'requests',
  'sync',
  'memory',
  'liveness',
  'rounds',
  'pace',
  'waste',
  'gave up',
] as const
export type Rule = (typeof RULES)[number]

export interface Violation {
  readonly rule: Rule
  readonly text: string
}

/** Receives violations; the first one counts. Never throws: it is called from within the engine, which would catch it. */
export type Report = (rule: Rule, text: string) => void
