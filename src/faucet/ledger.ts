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
export class FaucetLedger {
  readonly #store: GrantStore
  readonly #policy: FaucetPolicy
  readonly #clock: Pick<Clock, 'nowMs'>
  #latestMs: number

  constructor(store: GrantStore, policy: FaucetPolicy, clock: Pick<Clock, 'nowMs'>) {
    this.#store = store
    this.#policy = policy
    this.#clock = clock
    this.#latestMs = store.latestMs()
  }

  nowMs(): number {
    this.#latestMs = Math.max(this.#latestMs, this.#clock.nowMs())
    return this.#latestMs
  }

  /** Number of grants in the last 24 hours. */
  granted(): number {
    return this.#store.granted(this.nowMs())
  }

  /** Reads only. Throws TOO_SOON, CLIENT_LIMIT or DAILY_LIMIT. */
  check({ address, client, hasWork }: GrantRequest): void {
    const nowMs = this.nowMs()
    const refused = refusalOf(this.#store.history(address, client, nowMs), { nowMs, hasWork, policy: this.#policy })
    if (refused !== undefined) throw refusalError(refused)
  }

  /** Reserves a grant, which survives the end of the process; the time of the next one. Throws as `check` does. */
  reserve(request: GrantRequest): number {
    this.check(request)
    const nowMs = this.nowMs()
    if (!this.#store.reserve(request.address, request.client, nowMs))
      throw refusalError({ code: 'TOO_SOON', untilMs: eligibleAtMs(nowMs) })
    return eligibleAtMs(nowMs)
  }
}
