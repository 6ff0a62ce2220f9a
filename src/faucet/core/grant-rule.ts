import { FAUCET_LIMITS, type FaucetPolicy } from '../../config/limits/faucet.ts'
import type { FaucetRefusal } from './faucet-error.ts'

const { periodMs } = FAUCET_LIMITS

/** Grants so far that a decision depends on. */
export interface GrantHistory {
  /** Last grant of the address. */
  readonly last: { readonly reservedAtMs: number; readonly isSettled: boolean } | undefined
  /** Times of the client's grants in the last 24 hours, oldest first. */
  readonly clientTimes: readonly number[]
  /** Grants of everybody in the last 24 hours, and the oldest of them. */
  readonly granted: number
  readonly oldestMs: number | undefined
}

/** Time from which an address may have its next grant. */
export const eligibleAtMs = (reservedAtMs: number): number => reservedAtMs + periodMs

/** Grants after this time count for the limits of 24 hours. */
export const periodBeginMs = (nowMs: number): number => nowMs - periodMs

/** Returns why an address gets nothing now; undefined: it gets a grant. `hasWork`: with a proof of work. */
export const refusalOf = (
  { last, clientTimes, granted, oldestMs }: GrantHistory,
  { nowMs, hasWork, policy }: { readonly nowMs: number; readonly hasWork: boolean; readonly policy: FaucetPolicy },
): FaucetRefusal | undefined => {
  if (last !== undefined) {
    const untilMs = eligibleAtMs(last.reservedAtMs)
    if (nowMs < untilMs) return { code: 'TOO_SOON', untilMs }
    // Its transfer waits for more than a day: another one might become a second payment.
    if (!last.isSettled) return { code: 'TOO_SOON', untilMs: nowMs + 60_000 }
  }
  if (granted >= policy.dailyGrants) return { code: 'DAILY_LIMIT', untilMs: eligibleAtMs(oldestMs ?? nowMs) }
  const allowed = hasWork || policy.workBits === 0 ? policy.clientGrants : policy.clientGrantsWithoutWork
  if (clientTimes.length < allowed) return undefined
  const freed = clientTimes[clientTimes.length - allowed] ?? nowMs
  return { code: 'CLIENT_LIMIT', untilMs: eligibleAtMs(freed), needsWork: clientTimes.length < policy.clientGrants }
}
