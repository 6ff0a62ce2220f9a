import { readFileSync, readlinkSync } from 'node:fs'

/** Returns the id of the calling thread for `threadTimeMs`; 0 where the system tells none (only Linux does). */
export const systemThreadId = (): number => {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    return 0
  }
}

/**
 * Returns the processor time that a thread of this process has used, in milliseconds; undefined where it cannot be told. It asks only the
 * system, so a thread that is being stopped meanwhile does not matter.
 */
export const threadTimeMs = (id: number): number | undefined => {
  if (id === 0) return undefined
  try {
    return Number(readFileSync(`/proc/self/task/${id}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6
  } catch {
    return undefined
  }
}
