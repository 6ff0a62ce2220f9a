import { CodedError } from '@tandem/base/errors.ts'
import { durationText } from '@tandem/web/times.ts'
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

/** Refusal as a client sees it. */
interface RefusalAnswer {
  readonly status: 400 | 429 | 503
  readonly message: string
  readonly field: 'address' | null
  /** When the request may succeed; undefined: that is not known. */
  readonly untilMs?: number
}

/** Returns a refusal in the words that a client sees. */
export const answerTo = (detail: FaucetRefusal, nowMs: number): RefusalAnswer => {
  const inTime = (untilMs: number): string => `in ${durationText(Math.ceil((untilMs - nowMs) / 1_000))}`
  switch (detail.code) {
    case 'ADDRESS_INVALID':
      return { status: 400, message: detail.reason, field: 'address' }
    case 'WORK_INVALID':
      return { status: 400, message: detail.reason, field: null }
    case 'TOO_SOON': {
      const { untilMs } = detail
      const message = `This address had its grant in the last 24 hours. The next one is possible ${inTime(untilMs)}.`
      return { status: 429, message, field: 'address', untilMs }
    }
    case 'CLIENT_LIMIT': {
      const { untilMs, needsWork } = detail
      const orWork = needsWork ? ', or now with a proof of work: turn on scripts in your browser' : ''
      const message = `Your network had its grants of the last 24 hours. The next one is possible ${inTime(untilMs)}${orWork}.`
      return { status: 429, message, field: null, untilMs }
    }
    case 'DAILY_LIMIT': {
      const { untilMs } = detail
      const message = `The faucet has given away what it gives in 24 hours. It goes on ${inTime(untilMs)}.`
      return { status: 503, message, field: null, untilMs }
    }
    case 'FAUCET_EMPTY':
      return { status: 503, message: 'The faucet is empty. Its operator has to fill it; try again later.', field: null }
    case 'NODE_AWAY':
      return { status: 503, message: 'The node of the faucet does not answer. Try again in a moment.', field: null }
    case 'FAUCET_BUSY':
      return { status: 503, message: 'The faucet is busy. Try again in a moment.', field: null }
  }
}
