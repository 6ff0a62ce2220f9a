/**
 * When a block may be proposed and what its timestamp is (reference/consensus.md 1.10). Header timestamps are whole seconds:
 * `minTimestampStep` is the one rule of how far a block must lie beyond its parent, for building and for header validity.
 */

/** Seconds a header's timestamp must exceed its parent's: the whole seconds of the block time; 0 below a second and in instant mode. */
export const minTimestampStep = (blockTimeMs: number): number => Math.floor(blockTimeMs / 1000)

/** Instant mode: a block as soon as there is a transaction, none otherwise. */
export const isInstant = (blockTimeMs: number): boolean => blockTimeMs === 0

/** Timestamp of a block proposed at `nowMs`, unix seconds. */
export const timestampAt = (blockTimeMs: number, parentTimestamp: number, nowMs: number): number =>
  Math.max(parentTimestamp + minTimestampStep(blockTimeMs), Math.floor(nowMs / 1000))

/**
 * Wall time from which the next block may be proposed. Whole-second block times align to the second through the parent's
 * timestamp, so consensus time never accumulates into drift; others run on a wall-clock grid of the block time, the parent's
 * timestamp being too coarse. `lastSlotMs` is when this node last opened a slot (0 after start).
 */
export const earliestProposalMs = (blockTimeMs: number, parentTimestamp: number, lastSlotMs: number): number => {
  const byTimestamp = (parentTimestamp + minTimestampStep(blockTimeMs)) * 1000
  if (isInstant(blockTimeMs)) return 0
  if (blockTimeMs % 1000 === 0) return byTimestamp
  const nextSlot = (Math.floor(lastSlotMs / blockTimeMs) + 1) * blockTimeMs
  return Math.max(byTimestamp, nextSlot)
}
