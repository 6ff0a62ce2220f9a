import { FairQueue } from '@tandem/base/async/fair-queue.ts'

/** Scheduler of calls in a thread: one slice a turn of the event loop, clients in rotation, so a new call waits for one of each of them. */
export const createSliceScheduler = () => {
  const waiting = new FairQueue<() => void>()
  let pumping = false
  const pump = (): void => {
    const next = waiting.shift(() => true)
    if (waiting.isEmpty) pumping = false
    else setImmediate(pump)
    next?.item()
  }
  return {
    /** Resolves when the caller may continue. */
    giveWay: (client = ''): Promise<void> =>
      new Promise(resolve => {
        waiting.push(client, resolve)
        if (pumping) return
        pumping = true
        setImmediate(pump)
      }),
  }
}
