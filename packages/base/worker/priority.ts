import { getPriority, setPriority } from 'node:os'

/** Difference of nice values: such a thread gets a quarter of the time of another one where both could use a whole processor. */
const NICE_STEP = 5

/**
 * Lowers the scheduling priority of the calling thread, for threads that do long work for clients: the thread that makes blocks and
 * reads requests comes first where processors are few. On Linux only, where a priority belongs to a thread.
 */
export const lowerThreadPriority = (): void => {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, Math.min(19, getPriority(0) + NICE_STEP))
  } catch {
    // A sandbox may refuse it; the work is done at the usual priority then.
  }
}
