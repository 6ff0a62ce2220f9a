import { yieldToEventLoop } from '@tandem/base/async/delay.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { EXECUTION_LIMITS } from '../config/limits/execution.ts'
import type { Interrupt, InterruptedError } from './engine.ts'

/** Time slices of work: when it yields to other work, and when it must stop. */
export class SliceClock {
  readonly #interrupt: Interrupt
  #endMs: number

  constructor(interrupt: Interrupt) {
    this.#interrupt = interrupt
    this.#endMs = performance.now() + interrupt.sliceMs
  }

  get isOver(): boolean {
    return performance.now() >= this.#endMs
  }

  /** Returns a promise only when the slice is over; awaits as `giveWay`. */
  check(): Promise<void> | undefined {
    return this.isOver ? this.giveWay() : undefined
  }

  /** Yields to other work, then starts the next slice. Throws CodedError<InterruptedError> when the work must stop. */
  async giveWay(logBytes?: number): Promise<void> {
    await (this.#interrupt.giveWay?.() ?? yieldToEventLoop())
    if (this.#interrupt.shouldStop(logBytes)) throw new CodedError<InterruptedError>({ code: 'EXECUTION_INTERRUPTED' })
    this.#endMs = performance.now() + this.#interrupt.sliceMs
  }
}

/** Clock of a block's work between two transactions. */
export const createPacer = (signal: AbortSignal | undefined): SliceClock =>
  new SliceClock({ sliceMs: EXECUTION_LIMITS.sliceMs, shouldStop: () => signal?.aborted === true })

/** Throws CodedError<InterruptedError> when the signal has aborted. */
export const checkAborted = (signal: AbortSignal | undefined): void => {
  if (signal?.aborted === true) throw new CodedError<InterruptedError>({ code: 'EXECUTION_INTERRUPTED' })
}
