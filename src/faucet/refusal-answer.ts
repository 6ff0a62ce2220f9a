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
