import { Lru } from '@tandem/base/lru.ts'
import { STRATUM_LIMITS } from '../../../config/limits/stratum.ts'
import type { ShareOutcome } from './refusals.ts'

/** Shares of one worker, or of all of them. */
type ShareCounts = Readonly<Record<ShareOutcome, number>>

const SLICES = 10
const SLICE_MS = STRATUM_LIMITS.rateMs / SLICES

/** Estimate of a hash rate: the work of the shares of the last minutes. */
class ShareRate {
  /** Work by slice of time, oldest first. */
  #slices: { readonly slice: number; work: number }[] = []
  #sinceMs: number | undefined

  add(hashes: number, nowMs: number): void {
    this.#sinceMs ??= nowMs
    const slice = Math.floor(nowMs / SLICE_MS)
    const last = this.#slices.at(-1)
    if (last?.slice === slice) last.work += hashes
    else this.#slices.push({ slice, work: hashes })
    if (this.#slices.length > SLICES) this.#slices.shift()
  }

  perSecond(nowMs: number): number {
    if (this.#sinceMs === undefined) return 0
    const now = Math.floor(nowMs / SLICE_MS)
    const first = now - SLICES + 1
    let work = 0
    for (const { slice, work: part } of this.#slices) if (slice >= first && slice <= now) work += part
    // The current slice has only begun. A new worker is judged by a whole slice at least, so that one lucky share shows no giant.
    const windowMs = nowMs - Math.max(first * SLICE_MS, this.#sinceMs)
    return (work * 1_000) / Math.max(windowMs, SLICE_MS)
  }
}

const noShares = (): Record<ShareOutcome, number> => ({
  accepted: 0,
  stale: 0,
  duplicate: 0,
  lowDifficulty: 0,
  invalid: 0,
  limited: 0,
})

/** Accounts of the workers of a Stratum server. */
export class ShareAccounts {
  readonly #workers = new Lru<
    string,
    { readonly counts: Record<ShareOutcome, number>; readonly rate: ShareRate; lastShareMs: number }
  >(STRATUM_LIMITS.workers)
  readonly #total = noShares()
  readonly total: ShareCounts = this.#total

  get size(): number {
    return this.#workers.size
  }

  /** Records a share; `hashes`: expected ones of an accepted share. */
  add(worker: string, outcome: ShareOutcome, hashes: number, nowMs: number): void {
    const account = this.#workers.get(worker) ?? { counts: noShares(), rate: new ShareRate(), lastShareMs: 0 }
    this.#workers.set(worker, account)
    account.counts[outcome]++
    this.#total[outcome]++
    if (outcome !== 'accepted') return
    account.rate.add(hashes, nowMs)
    account.lastShareMs = nowMs
  }

  /** Returns the shares of one worker and the hashes per second that they show; undefined when it is unknown. */
  account(worker: string, nowMs: number) {
    const account = this.#workers.peek(worker)
    return (
      account && {
        worker,
        counts: account.counts,
        hashrate: account.rate.perSecond(nowMs),
        lastShareMs: account.lastShareMs,
      }
    )
  }

  /** Hashes per second of all workers. */
  hashrate(nowMs: number): number {
    let sum = 0
    for (const [, { rate }] of this.#workers.entries()) sum += rate.perSecond(nowMs)
    return sum
  }

  /** Number of workers with an accepted share in the window of the hash rate. */
  active(nowMs: number): number {
    let count = 0
    for (const [, { lastShareMs }] of this.#workers.entries()) if (lastShareMs > nowMs - STRATUM_LIMITS.rateMs) count++
    return count
  }
}
