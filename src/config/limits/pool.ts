/* Transaction pool. Units are in the names. */

export const POOL_LIMITS = {
  slotBytes: 8 * 1024,
  accountPending: 16,
  accountQueued: 64,
  pending: 16_384,
  queued: 4_096,
  replacementBumpPercent: 10,
  queuedLifetimeMs: 3 * 3_600_000,
  sweepMs: 60_000,
  /** Transactions that took too long for a block of this node: number remembered, duration, and number tried first next time. */
  quarantined: 512,
  quarantineMs: 30 * 60_000,
  retried: 64,
  journalBytes: 64 * 1024 * 1024,
} as const
