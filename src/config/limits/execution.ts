/* Execution of blocks, building them, recovery of senders, worker threads. Units are in the names. */

/** Milliseconds of work per event-loop turn while a block is executed, and while a call runs. */
export const EXECUTION_LIMITS = {
  sliceMs: 10,
  callSliceMs: 5,
  /** Bytes kept of what a reverted transaction returned, and of all those of a block. */
  failureBytes: 1_024,
  blockFailureBytes: 1_024 * 1_024,
} as const

/** Building of blocks. */
export const BUILD_LIMITS = {
  buildMs: 250,
  /** Minimum of that time where others are slow (consensus/timing/build-budget.ts). */
  leastBuildMs: 10,
  /** Time of one transaction where a lone validator decides: enough for all of its gas. */
  loneTransactionMs: 10_000,
  /** A transaction up to this gas limit runs whenever a block has time left, whatever its sender sent before. */
  lightGas: 2_000_000n,
  /** Processor time of a million gas of the slowest kind of work (bench/gas.ts): gas bounds the time of a transaction by it. */
  msPerMillionGas: 20,
  /** Gas limit up to which a plain transfer may use the reserved part of a block. */
  transferGas: 100_000n,
  /** Reserved part: one of so many of the block's gas, and one of so many of the build time on top of it. */
  transferGasShare: 16n,
  transferTimeShare: 5,
  /** Time that logs take after their transaction, per byte of topics, data and a head of 16 bytes (bench/gas.ts: logs). */
  msPerLogByte: 0.00002,
  /** Maximum lead of a build before its block time. */
  headStartMs: 150,
} as const

export const RECOVERY_LIMITS = {
  /** Lone transactions that the main thread recovers itself: their distance in time, and their size. */
  here: { everyMs: 5, bytes: 4 * 1024 },
  /** Transactions in a message, and in one of a long block. */
  batch: 64,
  blockBatch: 256,
  queue: 65_536,
  blockQueue: 262_144,
} as const

/** Young generation of worker threads with much short-lived garbage: semi-spaces of eight megabytes (a third of it). */
export const WORKER_LIMITS = { nurseryMegabytes: 24 } as const
