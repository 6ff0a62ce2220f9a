import { VARDIFF_LIMITS } from '../../../config/limits/stratum.ts'

/** Shares needed before the difficulty rises. */
const LEAST_SHARES = 8
/** Deviations, in standard deviations of a Poisson count, that show at any moment that the difficulty is too low or too high. */
const RISE_SIGMAS = 5
const FALL_SIGMAS = 4
/** Deviations that show a wrong difficulty at the end of a window, when the count is compared once. */
const FINAL_SIGMAS = 3
/** Expected shares in a window. */
const WINDOW_SHARES = 60
/** Largest factors of one change. */
const MOST_RISE = 256
const MOST_FALL = 16

/** Difficulty of a connection's shares, as expected hashes: it changes only where chance does not explain the count of shares. */
export class Vardiff {
  #hashes: number
  /** Shares since the window began, in units of the current difficulty. */
  #shares = 0
  #sinceMs: number

  constructor(firstHashes: number, nowMs: number) {
    this.#hashes = firstHashes
    this.#sinceMs = nowMs
  }

  /** Expected hashes of one share. */
  get hashes(): number {
    return this.#hashes
  }

  /** Counts a valid share of so many expected hashes; returns true when the difficulty changes. */
  count(hashes: number, nowMs: number): boolean {
    this.#shares += hashes / this.#hashes
    return this.review(nowMs)
  }

  /** Compares the shares with the time; to be called now and then as well, so that the difficulty of a slow miner falls. */
  review(nowMs: number): boolean {
    const expected = Math.max(nowMs - this.#sinceMs, 1) / VARDIFF_LIMITS.shareMs
    const isOver = expected >= WINDOW_SHARES
    const sigma = Math.sqrt(expected)
    const excess = this.#shares - expected
    if (excess > (isOver ? FINAL_SIGMAS : RISE_SIGMAS) * sigma && this.#shares >= LEAST_SHARES)
      return this.#change(Math.min(MOST_RISE, (this.#shares - 1) / expected), nowMs)
    if (-excess > (isOver ? FINAL_SIGMAS : FALL_SIGMAS) * sigma)
      return this.#change(Math.max(1 / MOST_FALL, (this.#shares + 0.5) / expected), nowMs)
    if (isOver) this.#restart(nowMs)
    return false
  }

  #change(estimate: number, nowMs: number): boolean {
    const { leastHashes, mostHashes } = VARDIFF_LIMITS
    // A small deviation that was just large enough to count is partly chance: half of it is corrected.
    const factor = estimate > 0.5 && estimate < 2 ? Math.sqrt(estimate) : estimate
    const before = this.#hashes
    this.#hashes = Math.min(mostHashes, Math.max(leastHashes, before * factor))
    this.#restart(nowMs)
    return this.#hashes !== before
  }

  #restart(nowMs: number): void {
    this.#shares = 0
    this.#sinceMs = nowMs
  }
}
