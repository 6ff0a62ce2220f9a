import type { Cancellation } from '@tandem/base/async/cancellation.ts'

/* Blocks on request: what is asked for, and who makes them. */

export interface MineOptions {
  readonly blocks: number
  /** Seconds between the blocks; by default the clock decides. */
  readonly interval?: number | undefined
  /** Applies the interval between the head and the first block, too. */
  readonly intervalFirst?: boolean
  /** Timestamp of the first block, unix seconds. */
  readonly timestamp?: number | undefined
  /** Ends the work between two blocks: of a client that is gone, no block is made. */
  readonly cancellation?: Cancellation | undefined
}

/** Returns the timestamp that was requested for the block at an index, unix seconds; undefined: the clock decides. */
export const requestedTimestamp = (
  { interval, intervalFirst = false, timestamp }: MineOptions,
  index: number,
  parentTimestamp: number,
): number | undefined => {
  if (index === 0 && timestamp !== undefined) return timestamp
  return interval !== undefined && (index > 0 || intervalFirst) ? parentTimestamp + interval : undefined
}

/** Makes blocks one after the other on request. */
export interface BlockMaker {
  /** Makes the next block, of what waits. */
  one(): Promise<void>
}
