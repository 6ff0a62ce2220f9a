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
    const [, usual = 0] = this.#took.toSorted((a, b) => b - a)
    return Math.min(BUILD_LIMITS.headStartMs, Math.ceil(usual))
  }

  took(ms: number): void {
    this.#took = [...this.#took, ms].slice(-LAST)
  }
}

/** Shares of a round's timeout: slower decisions shrink blocks, faster ones allow larger ones. */
const SLOW = 3 / 4
const FAST = 1 / 2
/**
 * The proposer's share of it for execution. A build takes up to 2.2 of these shares (included transactions, stopped ones, reserved
 * transfers) and the state root; the others then execute the block, twice as slowly where they share machines, and need 2.4 more.
 */
const PROPOSER = 3 / 20

/**
 * Time budget for building a block. A block executed in a quarter of a second here may take a slower, busier or more distant committee
 * longer than a round: then it is not decided, and the next proposer would propose as much again. So each decision that took too much
 * of its round, and each round given up over a proposal, halves the budget, and each quick decision adds back a tenth of the maximum,
 * whichever validator proposed the block.
 */
export class AdaptiveBuildBudget {
  readonly #roundTimeoutMs: number
  readonly #shareMs: number
  readonly #mostMs: number
  #ms: number

  constructor(roundTimeoutMs: number) {
    this.#roundTimeoutMs = roundTimeoutMs
    this.#shareMs = Math.max(BUILD_LIMITS.leastBuildMs, roundTimeoutMs * PROPOSER)
    this.#mostMs = Math.min(BUILD_LIMITS.buildMs, this.#shareMs)
    this.#ms = this.#mostMs
  }

  get ms(): number {
    return this.#ms
  }

  /** Milliseconds that one transaction may take, also when alone in its block: it shrinks with the budget. */
  get transactionMs(): number {
    return (this.#shareMs * this.#ms) / this.#mostMs
  }

  /** Part of the gas of a block: state written costs every node time after the execution, which only its gas bounds. */
  get gasShare(): number {
    return this.#ms / this.#mostMs
  }

  /** A round with a proposal was given up. */
  missed(): void {
    this.#ms = Math.max(BUILD_LIMITS.leastBuildMs, this.#ms / 2)
  }

  /** A block was decided `elapsedMs` after its build or arrival. */
  decided(elapsedMs: number): void {
    const mostMs = this.#mostMs
    if (elapsedMs > SLOW * this.#roundTimeoutMs) this.missed()
    else if (elapsedMs < FAST * this.#roundTimeoutMs) this.#ms = Math.min(mostMs, this.#ms + mostMs / 10)
  }
}
