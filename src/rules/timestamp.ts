import { BLOCK_BOUNDS } from '../config/protocol-bounds.ts'

/**
 * Smallest distance in seconds of a header's timestamp from its parent's: the whole seconds of the block time; 0 below a second and in
 * instant mode.
 */
export const minTimestampStepSeconds = (blockTimeMs: number): number => Math.floor(blockTimeMs / 1000)

/** Latest valid timestamp of a header at a wall-clock time, unix seconds (docs/design/consensus.md#pacing). */
export const maxTimestamp = (nowMs: number): number => Math.floor(nowMs / 1000) + BLOCK_BOUNDS.futureSeconds
