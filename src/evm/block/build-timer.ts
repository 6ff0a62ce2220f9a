import { yieldToEventLoop } from '@tandem/base/async/delay.ts'
import { BUILD_LIMITS } from '../../config/limits/execution.ts'
import type { BuildBudget } from '../executor-types.ts'

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
  /** Time of stopped transactions that extended the deadline, and time that they took from the block. */
  #stoppedMs = 0
  #lostMs = 0
  /** Part of `transactionMs` that is kept for one candidate. */
  #keptMs = 0
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

  /** Keeps half of the time for stopped transactions for one candidate, until it is released. */
  keepHalf(): void {
    this.#keptMs = this.#budget.transactionMs / 2
  }

  releaseHalf(): void {
    this.#keptMs = 0
  }

  /** Milliseconds that a heavy candidate may have now, 0: it waits. One whose gas ends it in time wastes none; others use stopped time. */
  heavyAllowanceMs(gas: bigint, isFirst: boolean): number {
    const { transactionMs } = this.#budget
    const timeMs = this.#timeMs
    const blockMs = this.lightAllowanceMs(isFirst)
    const mostMs = (Number(gas) * BUILD_LIMITS.msPerMillionGas) / 1e6
    const leastMs = transactionMs / 8
    // It overruns only where work takes longer than its gas allows for: then it costs light ones half of the time, once.
    if (mostMs <= timeMs && this.#lostMs <= leastMs) return Math.min(blockMs, Math.max(this.#trialMs, timeMs / 2))
    return this.#trialMs < leastMs ? 0 : Math.min(blockMs, this.#trialMs)
  }

  /** Returns the same for a light candidate. A block's first may exceed the deadline, alone, since else it would never be included. */
  lightAllowanceMs(isFirst: boolean): number {
    const { transactionMs } = this.#budget
    return isFirst && this.#stoppedMs === 0 ? transactionMs : Math.min(transactionMs, this.#timeMs)
  }

  /** Starts a run now. Logs count with the time that they take after the run: for their receipt, the root of the receipts and the store. */
  begin(isLight: boolean, allowanceMs: number) {
    const { signal, nowMs, cpuMs = nowMs } = this.#budget
    const sinceMs = this.#nowMs
    const workMs = isLight ? nowMs : cpuMs
    const workSinceMs = isLight ? sinceMs : cpuMs()
    let awayMs = 0
    let logsMs = 0
    return {
      until: {
        shouldStop(logBytes = 0) {
          logsMs = logBytes * BUILD_LIMITS.msPerLogByte
          return signal?.aborted === true || nowMs() - sinceMs + logsMs >= allowanceMs
        },
        async giveWay() {
          const leftMs = workMs()
          await yieldToEventLoop()
          awayMs += workMs() - leftMs
        },
      },
      /** Called once, when the run was stopped: returns the processor time that it took; of a light transaction, wall time. */
      stopped: (): number => {
        const ranMs = nowMs() - sinceMs
        const extraMs = Math.max(0, Math.min(ranMs, this.#trialMs))
        this.#deadlineMs += extraMs
        this.#stoppedMs += extraMs
        this.#lostMs += ranMs - extraMs
        return workMs() - workSinceMs - awayMs + logsMs
      },
    }
  }

  /** Excludes the time of loading code; returns its result. */
  async excluding<T>(work: Promise<T>): Promise<T> {
    const startMs = this.#budget.nowMs()
    const loaded = await work
    const tookMs = this.#budget.nowMs() - startMs
    this.#nowMs += tookMs
    this.#deadlineMs += tookMs
    if (this.#transfersEndMs !== undefined) this.#transfersEndMs += tookMs
    return loaded
  }

  /** Time left of the block, milliseconds. */
  get #timeMs(): number {
    return (this.#transfersEndMs ?? this.#deadlineMs) - this.#nowMs
  }

  /** Time left for stopped transactions, milliseconds. */
  get #trialMs(): number {
    return this.#budget.transactionMs - this.#keptMs - this.#stoppedMs
  }
}
