/**
 * Turns for calls that share a thread: one slice per round of the event loop, so that a call that comes in waits for one slice at
 * most, however many others are under way.
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
    /** Resolves when it is this caller's turn again. */
    giveWay: (): Promise<void> =>
      new Promise(resolve => {
        waiting.push(resolve)
        if (pumping) return
        pumping = true
        setImmediate(pump)
      }),
  }
}
