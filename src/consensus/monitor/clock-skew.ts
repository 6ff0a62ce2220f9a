import type { Hex } from '@tandem/base/bytes.ts'
import { CONSENSUS_LIMITS } from '../../config/limits/consensus.ts'

/**
 * Estimate of this node's clock skew against other proposers: a block's timestamp is its proposer's clock at the beginning of a second.
 * Network and work can only delay a proposal, so the minimum over a proposer's recent offsets counts, and then the median over
 * proposers, so that a single wrong clock there is not attributed to this node.
 */
export class ClockSkew {
  readonly #offsets = new Map<Hex, number[]>()

  /** `offsetMs`: arrival time of the proposal by this node's clock, less the block's timestamp. */
  heard(proposer: Hex, offsetMs: number): void {
    const { proposers, offsets } = CONSENSUS_LIMITS.skew
    const last = this.#offsets.get(proposer) ?? []
    // Evicts the proposer that was silent longest: it is no longer a member.
    this.#offsets.delete(proposer)
    if (this.#offsets.size >= proposers) this.#offsets.delete(this.#offsets.keys().next().value as Hex)
    this.#offsets.set(proposer, [...last, offsetMs].slice(-offsets))
  }

  /** Skew in milliseconds; positive: this clock is ahead. null: fewer than two others have been heard often enough. */
  get ms(): number | null {
    const known = [...this.#offsets.values()].filter(offsets => offsets.length >= CONSENSUS_LIMITS.skew.least)
    if (known.length < 2) return null
    const least = known.map(offsets => Math.min(...offsets)).sort((a, b) => a - b)
    // Of an even number the median closer to zero is taken: more than half of the others must agree on a skew.
    const lower = least[(least.length - 1) >> 1] as number
    const upper = least[least.length >> 1] as number
    return Math.abs(lower) < Math.abs(upper) ? lower : upper
  }
}
