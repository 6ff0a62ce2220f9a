import { LIMITS } from '../../config/limits.ts'
import type { Hex } from '../../util/bytes.ts'

/**
 * How far this node's clock is from those of the other proposers, as far as their proposals tell: a block's timestamp is its proposer's
 * clock at the beginning of a second. The way here and work only ever make a proposal later, so the least of a proposer's last ones counts, and
 * the median of all proposers, so that one wrong clock is not taken for ours.
 */
export class ClockSkew {
  readonly #offsets = new Map<Hex, number[]>()

  /** `offsetMs`: when its proposal came by our clock, less the block's timestamp. */
  heard(proposer: Hex, offsetMs: number): void {
    const { proposers, offsets } = LIMITS.consensus.skew
    const last = this.#offsets.get(proposer) ?? []
    // The longest silent one goes: it is a member no more.
    this.#offsets.delete(proposer)
    if (this.#offsets.size >= proposers) this.#offsets.delete(this.#offsets.keys().next().value as Hex)
    this.#offsets.set(proposer, [...last, offsetMs].slice(-offsets))
  }

  /** Milliseconds; positive: our clock is ahead. null: fewer than two others have been heard often enough. */
  get ms(): number | null {
    const known = [...this.#offsets.values()].filter(offsets => offsets.length >= LIMITS.consensus.skew.least)
    if (known.length < 2) return null
    const least = known.map(offsets => Math.min(...offsets)).sort((a, b) => a - b)
    // Of an even number the one nearer to none, which needs more than half of the others to say something is wrong.
    const lower = least[(least.length - 1) >> 1] as number
    const upper = least[least.length >> 1] as number
    return Math.abs(lower) < Math.abs(upper) ? lower : upper
  }
}
