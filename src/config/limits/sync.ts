/* Block sync and snapshots of the state. Units are in the names. */

/** Block sync (chain/sync). */
export const SYNC_LIMITS = {
  /** Range requests under way, and ranges requested or waiting for import. */
  parallel: 4,
  pieces: 8,
  /** Failures of the next range until a run is given up, and the pause after each. */
  attempts: 3,
  retryMs: 500,
  /** Wait for the next range: while the engine is stopped for the run, and until a second peer gets the request. */
  awayMs: 250,
  lateMs: 1_000,
  /** Peers that get the request for the next range at once. */
  askedAtOnce: 3,
  /** A member this little behind gets decisions from its neighbours, unless that takes longer than `patienceMs`. */
  nearBlocks: 2,
  patienceMs: 3_000,
  tickMs: 1_000,
  /** Time between the starts of two runs: a peer serves so many requests a second. */
  spacingMs: 200,
  /** Duration for which a peer is on hold that lacked what it claimed: at first, and at most. */
  holdMs: 2_000,
  holdCapMs: 60_000,
  /** Peers whose deliveries are remembered. */
  sources: 512,
  /** Pause after a run that failed on this side. */
  pauseMs: 2_000,
  /** The senders of a block with more transactions are recovered only at its import. */
  aheadTransactions: 16_384,
  /** Interval of log lines. */
  progressMs: 1_000,
} as const

/** Snapshots of the state (state/snapshot, chain/snapshot). The first two are part of format 2: a change makes another format. */
export const SNAPSHOT_LIMITS = {
  /** Default of blocks between two snapshots: whole cycles, three hours of seconds. */
  intervalBlocks: 10_800,
  /** Snapshots kept; the older one is for peers that are fetching it. */
  kept: 2,
  /** Older snapshots kept while peers fetch them, and the time since the last request after which they no longer do. */
  keptInUse: 2,
  inUseMs: 120_000,
  /** Bytes collected for one write of a file. */
  writeBytes: 1024 * 1024,
  /** Bytes of the disk that a snapshot leaves free: consensus needs them more. */
  freeBytes: 256 * 1024 * 1024,
  /** Chunks requested or waiting for import. */
  parallel: 6,
  /** Codes in one request, and in one response besides its byte limit. */
  codes: 256,
  /** Blocks before a snapshot that a chain needs at once: the reach of BLOCKHASH. */
  ancestors: 256,
  /** Consecutive chunks that no peer had until another snapshot is chosen, and the pause after each. */
  attempts: 5,
  retryMs: 1_000,
  /** The pause grows with each attempt up to this many of them. */
  pauses: 30,
  /** Wait for peers before a node without a snapshot syncs by blocks, and the interval of checks. */
  patienceMs: 15_000,
  lookMs: 500,
  /** Manifests compared before one is chosen, and peers whose headers are used to prove its block. */
  manifests: 8,
  witnesses: 6,
  /** Steps between the trust anchor and a snapshot (chain/snapshot/sync/skipping-verification.ts). */
  trustSteps: 64,
  /** Maximum age of the anchor: below the unbonding time of validators (docs/design/snapshot-sync.md#trust). */
  trustSeconds: 14 * 24 * 3_600,
  /** Blocks of history in one request, and the pause between two while the node serves. */
  historyBlocks: 64,
  /** Bytes of blocks of one range after which a smaller one is requested. */
  historyBytes: 8 * 1024 * 1024,
  historyPauseMs: 250,
} as const
