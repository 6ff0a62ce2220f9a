/* Consensus. Units are in the names. */

export const CONSENSUS_LIMITS = {
  futureHeights: 10,
  futureRounds: 8,
  bufferedMessages: 1_000,
  evidence: 1_000,
  /** Heights below the open one whose votes are still compared, and statements kept per member and height. */
  evidenceHeights: 2,
  statements: 256,
  retransmitMs: 500,
  walBytes: 16 * 1024 * 1024,
  pastRounds: 64,
  /** Bodies of one height kept for late decisions; others are requested by hash. */
  heldBlocks: 8,
  /** A block was decided after a moment when its timestamp is later by this: clocks of members may be apart. */
  freshMs: 10_000,
  /** Cached signature recoveries: signatures reappear in justifications and certificates. */
  cachedSignatures: 8_192,
  /** Neighbours that are sent a whole height at one time. */
  answers: 16,
  /** Clock skew: proposers compared, proposals of each at least and at most, and the skew that is logged. */
  skew: { proposers: 128, least: 4, offsets: 8, warnMs: 250 },
  /** Interval of warnings about a height that is not decided. */
  stallWarningMs: 60_000,
  /** Validators times message types counted separately. */
  watchedVotes: 1_024,
} as const
