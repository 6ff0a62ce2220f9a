/**
 * Scheduler of calls that share a thread: one slice per event-loop turn, so that a new call waits for one slice at most, however
 * many others run.
 */
export const createSliceScheduler = () => {
  const waiting: (() => void)[] = []
  let pumping = false
  const pump = (): void => {
    const resume = waiting.shift()
    if (waiting.length > 0) setImmediate(pump)
    else pumping = false
    resume?.()
  }
  return {
    /** Resolves when the caller may continue. */
    giveWay: (): Promise<void> =>
      new Promise(resolve => {
        waiting.push(resolve)
        if (pumping) return
        pumping = true
        setImmediate(pump)
      }),
  }
}
