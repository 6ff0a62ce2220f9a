import { LIMITS } from '../../config/limits.ts'

/** Blocks looked back on. */
const LAST = 32

/**
 * How long before its time a block is begun, so that it is ready then and blocks come evenly, whatever is in them: as long as all but
 * the slowest of the last ones took to build, and where nobody else has a say, to log. What comes in during the head start waits for the
 * next block, hence its bound.
 */
export class BuildLead {
  #took: readonly number[] = []

  get ms(): number {
    const [, second = 0] = this.#took.toSorted((a, b) => b - a)
    return Math.min(LIMITS.block.headStartMs, Math.ceil(second))
  }

  took(ms: number): void {
    this.#took = [...this.#took, ms].slice(-LAST)
  }
}
