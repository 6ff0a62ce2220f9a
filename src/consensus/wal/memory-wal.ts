import type { Wal } from './wal.ts'
import { checkWatermark, type LastSignature, type Watermark } from './watermark.ts'

const nothing = async (): Promise<void> => {}

/*
 * Log and watermark of a validator whose chain ends with its process (a development chain in a temporary folder): its signatures bind
 * nothing afterwards, so nothing is written or synced.
 */

export const memoryWal = (): Wal => ({
  condition: 'sound',
  takeEntries: () => [],
  append: () => {},
  isDirty: false,
  take: () => nothing,
  sizeBytes: 0,
  reset: nothing,
  discard: nothing,
  close: nothing,
})

export const memoryWatermark = (): Watermark => {
  let last: LastSignature | null = null
  return {
    condition: 'sound',
    get last() {
      return last
    },
    check: (position, digest) => checkWatermark(last, position, digest),
    advance(mark) {
      last = mark
    },
    isDirty: false,
    create: nothing,
    take: () => nothing,
    close: nothing,
  }
}
