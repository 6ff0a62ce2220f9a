import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/*
 * Garbage outside the heap of this thread, such as the memory of byte arrays. V8 lets 64 MiB of it gather in each thread before it
 * collects it.
 */

setFlagsFromString('--expose-gc')

/** Collects all garbage of this thread: tens of milliseconds, so not for the main thread. */
export const collectGarbage = runInNewContext('gc') as () => void

/** Growth of the memory outside the heap after which it is collected. */
const MAX_GROWTH_BYTES = 16 * 1024 * 1024

/** Memory outside the heap that the last collection left. */
let keptBytes = 0

/** Collects garbage when the memory outside the heap has grown; called between pieces of work of a worker thread. */
export const collectExternalGarbage = (): void => {
  const { external_memory } = getHeapStatistics()
  keptBytes = Math.min(keptBytes, external_memory)
  if (external_memory <= keptBytes + MAX_GROWTH_BYTES) return
  collectGarbage()
  keptBytes = getHeapStatistics().external_memory
}
