import { setFlagsFromString } from 'node:v8'
import { isMainThread } from 'node:worker_threads'

/**
 * Makes V8 use `maxYoungGenerationSizeMb` of worker threads that start from now on. While `--max-semi-space-size` is set, as for the
 * main thread (bin/tandem.mjs), V8 prefers it to the limits of every worker. The main thread has read it when its heap was made.
 */
export const useNurseryLimits = (): void => setFlagsFromString('--max-semi-space-size=0')

/** Time after which a process has started: its growth is set, and the functions of its start have run. */
export const STARTED_AFTER_MS = 2_000

/** Of a thread, as its process has it: what a thread set before, code of the start would be kept and loaded under. */
let isGrowthSet = !isMainThread && process.uptime() * 1_000 > STARTED_AFTER_MS

const useGrowth = (percent: number): void => {
  isGrowthSet = percent > 0
  setFlagsFromString(`--heap-growing-percent=${percent}`)
}

/** Sets the growth of the heap between collections, once a start is done. In a checkout it is set by the command line (bin/tandem.mjs). */
export const setHeapGrowth = (): void => useGrowth(30)

/**
 * Loads code under V8's own growth of the heap: V8 refuses code that was compiled under another one, and compiles even Node's own modules anew. Returns
 * what `load` does.
 */
export const underDefaultGrowth = <T>(load: () => T): T => {
  if (!isGrowthSet) return load()
  useGrowth(0)
  try {
    return load()
  } finally {
    setHeapGrowth()
  }
}
