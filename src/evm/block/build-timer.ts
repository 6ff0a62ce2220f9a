import { BUILD_LIMITS } from '../../config/limits/execution.ts'
import { yieldToEventLoop } from '../../util/async/delay.ts'
import type { BuildBudget, Overrun } from '../executor-types.ts'
import type { StopCondition } from './block-runner.ts'

/** Run of a transaction that may be stopped. */
export interface Trial {
  readonly until: StopCondition
  /** Called once, when the run was stopped. */
  stopped(): Overrun
}

/**
 * Time of a block under construction. Included transactions must end by `deadlineMs`, since all other nodes execute them too. Stopped
 * transactions together have `transactionMs`, and extend the deadline by their time, since other nodes never run them. After the deadline
 * `transferMs` are reserved for plain transfers, so that no price paid for code keeps them out.
 */
export class BuildTimer {
  readonly #budget: BuildBudget
  #deadlineMs: number
  /** End of the time reserved for transfers; undefined before the deadline. */
  #transfersEndMs: number | undefined
  #stoppedMs = 0
  /** Time of the last reading. */
  #nowMs = 0

  constructor(budget: BuildBudget) {
    this.#budget = budget
    this.#deadlineMs = budget.deadlineMs
  }

  /** Reads the clock. */
  isOver(): boolean {
    this.#nowMs = this.#budget.nowMs()
    if (this.#transfersEndMs === undefined && this.#nowMs < this.#deadlineMs) return false
    this.#transfersEndMs ??= this.#nowMs + (this.#budget.transferMs ?? 0)
    return this.#nowMs >= this.#transfersEndMs
  }

  /** True once only plain transfers are taken. */
  get isForTransfers(): boolean {
    return this.#transfersEndMs !== undefined
  }

  /** True when a transaction that may run long can be tried. */
  get hasTrials(): boolean {
    return this.#leftMs > this.#budget.transactionMs / 8
  }

  /**
   * Starts a run now. The first one of a block may exceed the deadline and is then alone in the block, since a long one would
   * otherwise never be included. `isLight`: its gas bounds its time. Logs count with the time that they take after the run: for their
   * receipt, the root of the receipts and the store.
   */
  begin(isFirst: boolean, isLight: boolean): Trial {
    const { signal, nowMs, transactionMs } = this.#budget
    const sinceMs = this.#nowMs
    const forMs = this.#allowance(isFirst, isLight)
    let awayMs = 0
    let logsMs = 0
    return {
      until: {
        shouldStop(logBytes = 0) {
          logsMs = logBytes * BUILD_LIMITS.msPerLogByte
          return signal?.aborted === true || nowMs() - sinceMs + logsMs >= forMs
        },
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
        const isProven = ranMs + logsMs >= transactionMs && ranMs + logsMs - awayMs >= transactionMs / 2
        return { ranMs, isProven }
      },
    }
  }

  /** Excludes the time of loading code. */
  async excluding(work: Promise<void>): Promise<void> {
    const startMs = this.#budget.nowMs()
    await work
    const tookMs = this.#budget.nowMs() - startMs
    this.#nowMs += tookMs
    this.#deadlineMs += tookMs
    if (this.#transfersEndMs !== undefined) this.#transfersEndMs += tookMs
  }

  /** Remaining milliseconds for transactions that are stopped. */
  get #leftMs(): number {
    return this.#budget.transactionMs - this.#stoppedMs
  }

  #allowance(isFirst: boolean, isLight: boolean): number {
    const { transactionMs } = this.#budget
    if (isFirst && this.#stoppedMs === 0) return transactionMs
    return Math.min(isLight ? transactionMs : this.#leftMs, (this.#transfersEndMs ?? this.#deadlineMs) - this.#nowMs)
  }
}
