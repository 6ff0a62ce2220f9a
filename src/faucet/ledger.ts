import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import type { FaucetPolicy } from '../config/limits/faucet.ts'
import { eligibleAtMs, refusalError, refusalOf } from './grant-rule.ts'
import type { GrantStore } from './grant-store.ts'

/** Recipient of a grant, and the client that requests it. */
interface GrantRequest {
  readonly address: Hex
  readonly client: string
  /** The request carries a valid proof of work. */
  readonly hasWork: boolean
}

/** Decides on grants by the rule and the stored ones. Its time never goes back, so a clock set back gives nothing twice. */
export const createFaucetLedger = (store: GrantStore, policy: FaucetPolicy, clock: Pick<Clock, 'nowMs'>) => {
  let latestMs = store.latestMs()

  const now = (): number => {
    latestMs = Math.max(latestMs, clock.nowMs())
    return latestMs
  }

  /** Reads only. Throws TOO_SOON, CLIENT_LIMIT or DAILY_LIMIT. */
  const check = ({ address, client, hasWork }: GrantRequest): void => {
    const nowMs = now()
    const refused = refusalOf(store.history(address, client, nowMs), { nowMs, hasWork, policy: policy })
    if (refused !== undefined) throw refusalError(refused)
  }

  return {
    nowMs: now,

    /** Number of grants in the last 24 hours. */
    granted: (): number => store.granted(now()),

    check,

    /** Reserves a grant, which survives the end of the process; the time of the next one. Throws as `check` does. */
    reserve(request: GrantRequest): number {
      check(request)
      const nowMs = now()
      if (!store.reserve(request.address, request.client, nowMs))
        throw refusalError({ code: 'TOO_SOON', untilMs: eligibleAtMs(nowMs) })
      return eligibleAtMs(nowMs)
    },
  }
}

export type FaucetLedger = ReturnType<typeof createFaucetLedger>
