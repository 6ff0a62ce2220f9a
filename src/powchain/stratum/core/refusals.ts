/** Errors of Stratum, with the numbers that pools use. */
export const STRATUM_CODES = {
  other: 20,
  stale: 21,
  duplicate: 22,
  lowDifficulty: 23,
  unauthorized: 24,
  notSubscribed: 25,
} as const

/** Outcome of a share for the accounts. `limited`: the connection sent more shares than are hashed for it. */
export type ShareOutcome = 'accepted' | 'stale' | 'duplicate' | 'lowDifficulty' | 'invalid' | 'limited'

/** Error response to a miner. */
export interface Refusal {
  readonly code: (typeof STRATUM_CODES)[keyof typeof STRATUM_CODES]
  readonly message: string
  /** Outcome under which a refused share is counted. */
  readonly outcome?: Exclude<ShareOutcome, 'accepted'>
}

export const shareRefusal = (outcome: NonNullable<Refusal['outcome']>, message: string): Refusal => ({
  code: outcome === 'invalid' || outcome === 'limited' ? STRATUM_CODES.other : STRATUM_CODES[outcome],
  message,
  outcome,
})

/** Weight of a refused share among the faults of its sender; late and too many ones happen to honest miners. */
export const FAULT_WEIGHT: Readonly<Record<NonNullable<Refusal['outcome']>, number>> = {
  stale: 0,
  duplicate: 1,
  lowDifficulty: 1,
  invalid: 1,
  limited: 0.1,
}
