import { getHeapStatistics } from 'node:v8'
import { collectGarbage } from '@tandem/base/worker/garbage.ts'
import { CALL_LIMITS } from '../../../config/limits/clients.ts'
import { dropIdleMachines, forgetDroppedMachines, machineBytes } from '../../engines/wasm/pool.ts'

/*
 * Memory of the calls of one worker thread: frames, which are outside the heap, and the words and lists of the interpreter on the heap.
 */

/** Returns true while the calls hold more than their limits, or left garbage of that size. */
export const isBeyondMemory = (): boolean => {
  const { external_memory, used_heap_size } = getHeapStatistics()
  return external_memory + machineBytes() > CALL_LIMITS.frameBytes || used_heap_size > CALL_LIMITS.heapUsedBytes
}

/** Returns true when the running calls exceed their memory, also after a garbage collection: the current one is then stopped. */
export const isStarved = (): boolean => {
  if (!isBeyondMemory()) return false
  dropIdleMachines()
  collectGarbage()
  forgetDroppedMachines()
  return isBeyondMemory()
}

/** Returns the memory of past calls to the system; called when no call runs. */
export const releaseMemory = (): void => {
  const { external_memory } = getHeapStatistics()
  if (external_memory + machineBytes() < CALL_LIMITS.idleBytes) return
  dropIdleMachines()
  collectGarbage()
  forgetDroppedMachines()
}
