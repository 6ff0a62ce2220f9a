import { LIMITS } from '../config/limits.ts'

/** Shares of a round's timeout: slower decisions call for smaller blocks, faster ones allow larger ones. */
const SLOW = 3 / 4
const FAST = 1 / 2

/**
 * How long a block of this node may take to build. What is executed in a quarter of a second here may take a slower, busier or farther
 * committee longer than a round: then no block is decided, and the next proposer offers as much again. So each decision that took too
 * much of the round, and each round given up over a proposal, halves the budget, and each quick decision gives a tenth of the whole
 * back, whoever proposed the block.
 */
export class BuildBudget {
  readonly #roundTimeoutMs: number
  #ms: number = LIMITS.block.buildMs

  constructor(roundTimeoutMs: number) {
    this.#roundTimeoutMs = roundTimeoutMs
  }

  get ms(): number {
    return this.#ms
  }

  /** There was a proposal, and its round was given up. */
  missed(): void {
    this.#ms = Math.max(LIMITS.block.leastBuildMs, this.#ms / 2)
  }

  /** A block was decided so long after it was begun or came. */
  decided(elapsedMs: number): void {
    const { buildMs } = LIMITS.block
    if (elapsedMs > SLOW * this.#roundTimeoutMs) this.missed()
    else if (elapsedMs < FAST * this.#roundTimeoutMs) this.#ms = Math.min(buildMs, this.#ms + buildMs / 10)
  }
}
