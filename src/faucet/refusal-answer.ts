import { durationText } from '@tandem/web/times.ts'
import type { FaucetRefusal } from './grant-rule.ts'

/** Refusal as a client sees it. */
export interface RefusalAnswer {
  readonly status: 400 | 429 | 503
  readonly message: string
  readonly field: 'address' | null
  /** When the request may succeed; undefined: that is not known. */
  readonly untilMs?: number
}

const inTime = (untilMs: number, nowMs: number): string => `in ${durationText(Math.ceil((untilMs - nowMs) / 1_000))}`

export const answerTo = (detail: FaucetRefusal, nowMs: number): RefusalAnswer => {
  switch (detail.code) {
    case 'ADDRESS_INVALID':
      return { status: 400, message: detail.reason, field: 'address' }
    case 'WORK_INVALID':
      return { status: 400, message: detail.reason, field: null }
    case 'TOO_SOON':
      return {
        status: 429,
        message: `This address had its grant in the last 24 hours. The next one is possible ${inTime(detail.untilMs, nowMs)}.`,
        field: 'address',
        untilMs: detail.untilMs,
      }
    case 'CLIENT_LIMIT':
      return {
        status: 429,
        message: `Your network had its grants of the last 24 hours. The next one is possible ${inTime(detail.untilMs, nowMs)}${detail.needsWork ? ', or now with a proof of work: turn on scripts in your browser' : ''}.`,
        field: null,
        untilMs: detail.untilMs,
      }
    case 'DAILY_LIMIT':
      return {
        status: 503,
        message: `The faucet has given away what it gives in 24 hours. It goes on ${inTime(detail.untilMs, nowMs)}.`,
        field: null,
        untilMs: detail.untilMs,
      }
    case 'FAUCET_EMPTY':
      return { status: 503, message: 'The faucet is empty. Its operator has to fill it; try again later.', field: null }
    case 'NODE_AWAY':
      return { status: 503, message: 'The node of the faucet does not answer. Try again in a moment.', field: null }
    case 'FAUCET_BUSY':
      return { status: 503, message: 'The faucet is busy. Try again in a moment.', field: null }
  }
}
