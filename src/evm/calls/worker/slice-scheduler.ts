import { yieldToEventLoop } from '@tandem/base/async/delay.ts'

/** Scheduler of calls in a thread: one slice a turn of the event loop, so a new call waits for one, however many others run. */
export const createSliceScheduler = () => {
  let last = Promise.resolve()
  return {
    /** Resolves when the caller may continue. */
    giveWay(): Promise<void> {
      last = last.then(yieldToEventLoop)
      return last
    },
  }
}
