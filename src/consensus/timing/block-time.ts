import { minTimestampStepSeconds } from '../../rules/timestamp.ts'

/*
 * When a block may be proposed and what its timestamp is (docs/design/consensus.md#pacing). Header timestamps are whole seconds;
 * how far a block must lie after its parent is the rule of rules/timestamp.ts, for building as for header validity.
 */

/** Instant mode: a block as soon as there is a transaction, none otherwise. */
export const isInstantMode = (blockTimeMs: number): boolean => blockTimeMs === 0

/** Timestamp of a block proposed at `nowMs`, unix seconds. */
export const proposalTimestamp = (blockTimeMs: number, parentTimestamp: number, nowMs: number): number =>
  Math.max(parentTimestamp + minTimestampStepSeconds(blockTimeMs), Math.floor(nowMs / 1000))

/**
 * Wall time from which the next block may be proposed. Whole-second block times align to the second through the parent's
 * timestamp, so consensus time never accumulates into drift; others run on a wall-clock grid of the block time, the parent's
 * timestamp being too coarse. `lastSlotMs` is when this node last opened a slot (0 after start).
 */
export const earliestProposalMs = (blockTimeMs: number, parentTimestamp: number, lastSlotMs: number): number => {
  const byTimestamp = (parentTimestamp + minTimestampStepSeconds(blockTimeMs)) * 1000
  if (isInstantMode(blockTimeMs)) return 0
  if (blockTimeMs % 1000 === 0) return byTimestamp
  const nextSlot = (Math.floor(lastSlotMs / blockTimeMs) + 1) * blockTimeMs
  return Math.max(byTimestamp, nextSlot)
}
