import { BUILD_LIMITS } from '../../config/limits/execution.ts'

/** Number of recent builds considered. */
const LAST = 8

/**
 * Time before the block time at which a build starts, so that blocks come evenly whatever they contain: the duration of all but the
 * slowest recent builds, including the log write where this node is the only voter. Transactions that arrive during this lead wait for
 * the next block, hence its bound.
 */
export class BuildLead {
  #took: readonly number[] = []

  get ms(): number {
    const [, second = 0] = this.#took.toSorted((a, b) => b - a)
    return Math.min(BUILD_LIMITS.headStartMs, Math.ceil(second))
  }

  took(ms: number): void {
    this.#took = [...this.#took, ms].slice(-LAST)
  }
}
