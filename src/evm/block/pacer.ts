import { yieldToEventLoop } from '@tandem/base/async/delay.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { EXECUTION_LIMITS } from '../../config/limits/execution.ts'
import type { InterruptedError } from '../engine.ts'

/** Yields to the event loop between two transactions when a time slice is over. */
interface Pacer {
  /** True when the slice is over. */
  due(): boolean
  /** Yields to other work. Throws CodedError<InterruptedError> when the signal has aborted. */
  giveWay(): Promise<void>
}

/** Throws CodedError<InterruptedError> when the signal has aborted. */
export const checkAborted = (signal: AbortSignal | undefined): void => {
  if (signal?.aborted === true) throw new CodedError<InterruptedError>({ code: 'EXECUTION_INTERRUPTED' })
}

export const createPacer = (signal: AbortSignal | undefined): Pacer => {
  let sliceEndMs = performance.now() + EXECUTION_LIMITS.sliceMs
  return {
    due: () => performance.now() >= sliceEndMs,
    async giveWay() {
      await yieldToEventLoop()
      checkAborted(signal)
      sliceEndMs = performance.now() + EXECUTION_LIMITS.sliceMs
    },
  }
}
