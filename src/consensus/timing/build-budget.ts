import { LIMITS } from '../../config/limits.ts'

/** Shares of a round's timeout: slower decisions call for smaller blocks, faster ones allow larger ones. */
const SLOW = 3 / 4
const FAST = 1 / 2
/**
 * What the proposer may take of it to execute, so that the others can do the same in what is left: they may be slower, and are all at
 * it at once where they share machines.
 */
const PROPOSER = 1 / 4

/**
 * How long a block of this node may take to build. What is executed in a quarter of a second here may take a slower, busier or farther
 * committee longer than a round: then no block is decided, and the next proposer offers as much again. So each decision that took too
 * much of the round, and each round given up over a proposal, halves the budget, and each quick decision gives a tenth of the whole
 * back, whoever proposed the block.
 */
export class AdaptiveBuildBudget {
  readonly #roundTimeoutMs: number
  readonly #shareMs: number
  readonly #mostMs: number
  #ms: number

  constructor(roundTimeoutMs: number) {
    this.#roundTimeoutMs = roundTimeoutMs
    this.#shareMs = Math.max(LIMITS.block.leastBuildMs, roundTimeoutMs * PROPOSER)
    this.#mostMs = Math.min(LIMITS.block.buildMs, this.#shareMs)
    this.#ms = this.#mostMs
  }

  get ms(): number {
    return this.#ms
  }

  /** The longest that one transaction may take, also where it stands alone: it shrinks with the rest. */
  get transactionMs(): number {
    return (this.#shareMs * this.#ms) / this.#mostMs
  }

  /** There was a proposal, and its round was given up. */
  missed(): void {
    this.#ms = Math.max(LIMITS.block.leastBuildMs, this.#ms / 2)
  }

  /** A block was decided so long after it was begun or came. */
  decided(elapsedMs: number): void {
    const mostMs = this.#mostMs
    if (elapsedMs > SLOW * this.#roundTimeoutMs) this.missed()
    else if (elapsedMs < FAST * this.#roundTimeoutMs) this.#ms = Math.min(mostMs, this.#ms + mostMs / 10)
  }
}
