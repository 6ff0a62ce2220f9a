import { minTimestampStepSeconds } from '../../rules/header.ts'

/* Earliest time and timestamp of a block (docs/design/consensus.md#pacing), in whole seconds with the step of rules/header.ts. */

/** Instant mode: a block is made as soon as there is a transaction, and none otherwise. */
export const isInstantMode = (blockTimeMs: number): boolean => blockTimeMs === 0

/** Timestamp of a block proposed at `nowMs`, unix seconds. */
export const proposalTimestamp = (blockTimeMs: number, parentTimestamp: number, nowMs: number): number =>
  Math.max(parentTimestamp + minTimestampStepSeconds(blockTimeMs), Math.floor(nowMs / 1000))

/**
 * Wall-clock time from which the next block may be proposed. Block times of whole seconds align to the second through the
 * parent's timestamp, so delays never accumulate; others use a wall-clock grid of the block time, since the parent's timestamp
 * is too coarse. `lastSlotMs` is the last slot this node opened (0 after start).
 */
export const earliestProposalMs = (blockTimeMs: number, parentTimestamp: number, lastSlotMs: number): number => {
  const byTimestamp = (parentTimestamp + minTimestampStepSeconds(blockTimeMs)) * 1000
  if (isInstantMode(blockTimeMs)) return 0
  if (blockTimeMs % 1000 === 0) return byTimestamp
  const nextSlot = (Math.floor(lastSlotMs / blockTimeMs) + 1) * blockTimeMs
  return Math.max(byTimestamp, nextSlot)
}
