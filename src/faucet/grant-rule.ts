import { CodedError } from '@tandem/base/errors.ts'
import { FAUCET_LIMITS, type FaucetPolicy } from '../config/limits/faucet.ts'

/** Reasons for which a request gets nothing. `untilMs`: when it may succeed. */
export type FaucetRefusal =
  | { readonly code: 'ADDRESS_INVALID'; readonly reason: string }
  | { readonly code: 'WORK_INVALID'; readonly reason: string }
  /** The address has had its grant. */
  | { readonly code: 'TOO_SOON'; readonly untilMs: number }
  | { readonly code: 'CLIENT_LIMIT'; readonly untilMs: number; readonly needsWork: boolean }
  | { readonly code: 'DAILY_LIMIT'; readonly untilMs: number }
  | { readonly code: 'FAUCET_EMPTY' }
  | { readonly code: 'NODE_AWAY'; readonly reason: string }
  | { readonly code: 'FAUCET_BUSY' }

export const refusalError = (detail: FaucetRefusal): CodedError<FaucetRefusal> => new CodedError(detail)

const { periodMs } = FAUCET_LIMITS

/** Grants so far that a decision depends on. */
export interface GrantHistory {
  /** Last grant of the address. */
  readonly last: { readonly reservedAtMs: number; readonly isSettled: boolean } | undefined
  /** Times of the client's grants in the last 24 hours, oldest first. */
  readonly clientTimes: readonly number[]
  /** Grants of everybody. */
  readonly all: GrantCount
  /** Grants of the client's neighbours in the last 24 hours; undefined: it has no address. */
  readonly groups: { readonly narrow: GrantCount; readonly wide: GrantCount } | undefined
}

/** Grants in the last 24 hours, and the time of the oldest of them. */
export interface GrantCount {
  readonly granted: number
  readonly oldestMs: number | undefined
}

/** Most grants of a group of clients in 24 hours: a part of the day's, and no less than one client gets. */
const groupGrants = ({ dailyGrants, clientGrants }: FaucetPolicy, part: number): number =>
  Math.max(clientGrants, Math.floor(dailyGrants / part))

/** Time from which an address may have its next grant. */
export const eligibleAtMs = (reservedAtMs: number): number => reservedAtMs + periodMs

/** Grants after this time count for the limits of 24 hours. */
export const periodBeginMs = (nowMs: number): number => nowMs - periodMs

/** Returns why an address gets nothing now; undefined: it gets a grant. `hasWork`: with a proof of work. */
export const refusalOf = (
  { last, clientTimes, all, groups }: GrantHistory,
  { nowMs, hasWork, policy }: { readonly nowMs: number; readonly hasWork: boolean; readonly policy: FaucetPolicy },
): FaucetRefusal | undefined => {
  if (last !== undefined) {
    const untilMs = eligibleAtMs(last.reservedAtMs)
    if (nowMs < untilMs) return { code: 'TOO_SOON', untilMs }
    // Its transfer waits for more than a day: another one might become a second payment.
    if (!last.isSettled) return { code: 'TOO_SOON', untilMs: nowMs + 60_000 }
  }
  const until = ({ oldestMs = nowMs }: GrantCount): number => eligibleAtMs(oldestMs)
  if (all.granted >= policy.dailyGrants) return { code: 'DAILY_LIMIT', untilMs: until(all) }
  for (const width of ['narrow', 'wide'] as const) {
    const count = groups?.[width]
    if (count !== undefined && count.granted >= groupGrants(policy, policy.groupParts[width]))
      return { code: 'CLIENT_LIMIT', untilMs: until(count), needsWork: false }
  }
  const allowed = hasWork || policy.workBits === 0 ? policy.clientGrants : policy.clientGrantsWithoutWork
  if (clientTimes.length < allowed) return undefined
  const freed = clientTimes[clientTimes.length - allowed] ?? nowMs
  return { code: 'CLIENT_LIMIT', untilMs: eligibleAtMs(freed), needsWork: clientTimes.length < policy.clientGrants }
}
