import type { PoolEntry } from './entry.ts'
import type { SenderQueue } from './sender-queue.ts'

/* Order of eviction when the pool is full: the larger of two senders loses a transaction. */

/**
 * Within the guaranteed slots all senders are equal. The price of what may never pay says nothing, nor does that of what waits behind it:
 * these are evicted first, and what waits for a lower base fee, then the lower tip.
 */
export const largerReady =
  (guaranteed: number) =>
  (a: SenderQueue, b: SenderQueue): boolean => {
    const sizeA = a.readySlots > guaranteed ? a.readySlots : guaranteed
    const sizeB = b.readySlots > guaranteed ? b.readySlots : guaranteed
    if (sizeA !== sizeB) return sizeA > sizeB
    const isDoubtful = mayWaitForEver(a)
    if (isDoubtful !== mayWaitForEver(b)) return isDoubtful
    if (a.readyTailTip !== b.readyTailTip) return a.readyTailTip < b.readyTailTip
    return (a.entries[a.ready - 1] as PoolEntry).arrival > (b.entries[b.ready - 1] as PoolEntry).arrival
  }

/**
 * Within as many slots all senders are equal here too. A queued transaction may never pay, so its price says nothing: those of idle senders
 * go first, and of these the oldest.
 */
export const largerQueued =
  (guaranteed: number) =>
  (a: SenderQueue, b: SenderQueue): boolean => {
    const sizeA = a.queuedSlots > guaranteed ? a.queuedSlots : guaranteed
    const sizeB = b.queuedSlots > guaranteed ? b.queuedSlots : guaranteed
    if (sizeA !== sizeB) return sizeA > sizeB
    const isIdle = a.executable === 0
    if (isIdle !== (b.executable === 0)) return isIdle
    return (a.entries.at(-1) as PoolEntry).arrival < (b.entries.at(-1) as PoolEntry).arrival
  }

const mayWaitForEver = ({ readyDoubts, executable, ready }: SenderQueue): boolean =>
  readyDoubts > 0 || executable < ready
