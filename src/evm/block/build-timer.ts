import type { BuildBudget, Overrun } from '../executor-types.ts'
import type { StopCondition } from './block-runner.ts'
import { yieldToEventLoop } from './pacer.ts'

/** One run of a transaction that may be stopped. */
export interface Trial {
  readonly until: StopCondition
  /** To be called once, when it was stopped. */
  stopped(): Overrun
}

/**
 * Time of a block under construction. What stands in the block was given `deadlineMs`, since all others must run it too. Transactions
 * that are stopped have `transactionMs` together, and put the deadline off by what they took: they cost others nothing.
 */
export class BuildTimer {
  readonly #budget: BuildBudget
  #deadlineMs: number
  #stoppedMs = 0
  /** As last read. */
  #nowMs = 0

  constructor(budget: BuildBudget) {
    this.#budget = budget
    this.#deadlineMs = budget.deadlineMs
  }

  /** Reads the clock. */
  isOver(): boolean {
    this.#nowMs = this.#budget.nowMs()
    return this.#nowMs >= this.#deadlineMs
  }

  /** Whether a transaction that may run for long can be tried. */
  get hasTrials(): boolean {
    return this.#leftMs > this.#budget.transactionMs / 8
  }

  /**
   * Begins a run now. The first one of a block may go beyond the deadline, which leaves the block to itself: else a long one would
   * never get in. `isLight`: its gas bounds it.
   */
  begin(isFirst: boolean, isLight: boolean): Trial {
    const { signal, nowMs, transactionMs } = this.#budget
    const sinceMs = this.#nowMs
    const forMs = this.#allowance(isFirst, isLight)
    let awayMs = 0
    return {
      until: {
        shouldStop: () => signal?.aborted === true || nowMs() - sinceMs >= forMs,
        async giveWay() {
          const leftMs = nowMs()
          await yieldToEventLoop()
          awayMs += nowMs() - leftMs
        },
      },
      stopped: () => {
        const ranMs = nowMs() - sinceMs
        this.#deadlineMs += Math.max(0, Math.min(ranMs, this.#leftMs))
        this.#stoppedMs += ranMs
        // A thread that was busy with other work says nothing about the transaction.
        const isProven = ranMs >= transactionMs && ranMs - awayMs >= transactionMs / 2
        return { ranMs, isProven }
      },
    }
  }

  /** Time spent on loading code is not the transactions' time. */
  async excluding(work: Promise<void>): Promise<void> {
    const startMs = this.#budget.nowMs()
    await work
    const tookMs = this.#budget.nowMs() - startMs
    this.#nowMs += tookMs
    this.#deadlineMs += tookMs
  }

  /** What stopped transactions may still take, milliseconds. */
  get #leftMs(): number {
    return this.#budget.transactionMs - this.#stoppedMs
  }

  #allowance(isFirst: boolean, isLight: boolean): number {
    const { transactionMs } = this.#budget
    if (isFirst && this.#stoppedMs === 0) return transactionMs
    return Math.min(isLight ? transactionMs : this.#leftMs, this.#deadlineMs - this.#nowMs)
  }
}
