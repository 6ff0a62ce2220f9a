import { EXECUTION_LIMITS } from '../../config/limits/execution.ts'
import { CodedError } from '../../util/errors.ts'
import type { InterruptedError } from '../engine.ts'

export const yieldToEventLoop = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** Gives the event loop its turn between two transactions when a slice of work is over. */
export interface Pacer {
  /** Whether the slice is over. */
  due(): boolean
  /** Lets other work run. Throws CodedError<InterruptedError> when the signal has aborted. */
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
