import { BUILD_LIMITS } from '../../config/limits/execution.ts'

/** Number of recent builds considered. */
const LAST = 8

/**
 * Time before the block time at which a build starts, so that blocks come evenly whatever they contain: the duration of all but the
 * slowest recent builds, including the log write where this node is the only voter. Transactions that arrive during this lead wait for
 * the next block, hence its bound. On a development chain they matter more than even blocks: there it is the median.
 */
export class BuildLead {
  readonly #isDevelopment: boolean
  #took: readonly number[] = []

  constructor(isDevelopment: boolean) {
    this.#isDevelopment = isDevelopment
  }

  get ms(): number {
    const slowestFirst = this.#took.toSorted((a, b) => b - a)
    const usual = slowestFirst[this.#isDevelopment ? slowestFirst.length >> 1 : 1] ?? 0
    return Math.min(BUILD_LIMITS.headStartMs, Math.ceil(usual))
  }

  took(ms: number): void {
    this.#took = [...this.#took, ms].slice(-LAST)
  }
}
