/** Scheduler of calls in a thread: one slice a turn of the event loop, so a new call waits for one, however many others run. */
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
