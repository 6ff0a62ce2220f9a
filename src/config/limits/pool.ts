/* Transaction pool. Units are in the names. */

export const POOL_LIMITS = {
  slotBytes: 8 * 1024,
  /** Bytes that each authorization of a set-code transaction counts for: what it holds, and the recovery of its signer. */
  authorizationBytes: 512,
  /** Bytes of memory beyond its length of each address and key of an access list. */
  accessItemBytes: 192,
  /** Set-code transactions that wait for the signers of their authorizations, and authorizations in those of one sender. */
  setCodeWaiting: 64,
  setCodeAuthorizations: 256,
  accountPending: 16,
  accountQueued: 64,
  pending: 16_384,
  queued: 4_096,
  replacementBumpPercent: 10,
  sweepMs: 60_000,
  /** Sweeps after which a transaction leaves that no block has included, nor one of its sender: three hours of blocks. */
  lifetimeSweeps: 180,
  /** Senders remembered whose heavy transactions were stopped, their wait as a multiple of the time they need, and its limit. */
  overrunSenders: 4_096,
  overrunWait: 3_000,
  overrunWaitMs: 30 * 60_000,
  journalBytes: 64 * 1024 * 1024,
} as const
