/* Chain: caches, queries, council, proof chain, development helpers. Units are in the names. */

/** Council contract, which defines the first value itself: members, and bytes of a name. */
export const COUNCIL_LIMITS = {
  /** Recently read cycles. */
  cachedCycles: 64,
} as const

/** Proof headers: number kept, and number verified at once; see also powchain/core.ts. */
export const PROOF_CHAIN_LIMITS = {
  verifiedHeaders: 1_024,
  cachedStates: 64,
  /** Headers kept whose parent or anchor is not known yet. */
  earlyHeaders: 64,
  /** Longest chain of pending headers above the final tip. */
  pendingDepth: 16,
  /** Headers in verification at once: Argon2id takes 4 MiB each. */
  verifying: 8,
} as const

/** Limits of work for miners. */
export const MINING_LIMITS = {
  /** Jobs handed out and still accepted: those of the default coinbase, and those of all others. */
  jobs: 256,
  /** Miners whose hash rates are added up, and how long a figure counts. */
  rates: 256,
  rateMs: 10_000,
  threads: 256,
  /** Time between two looks of a mining thread at its work. */
  batchMs: 50,
} as const

export const CHAIN_LIMITS = {
  /** Longer receipts of a block are stored in parts. */
  receiptPartBytes: 1024 * 1024,
  hashCache: 1_024,
  candidates: 8,
  /** Blocks after which a run of them is synced: a start reads the headers of the others. */
  unsyncedBlocks: 256,
  pendingTransactions: 1_000,
  pendingBuildMs: 50,
  /** Remembered transactions that took too long for it. */
  pendingSlow: 1_024,
  /** Blocks, and bytes of criteria, from which the log worker serves a query. */
  logSliceBlocks: 64,
  logSliceCriteria: 32 * 1024,
  /** Log queries over ranges: queued in total and per client, and running in total (with the index) and per client. */
  logQueries: 256,
  clientLogQueries: 128,
  logsInFlight: 3,
  clientLogsInFlight: 2,
  /** Blocks that wait for the log index before a step is taken, and blocks of one step. */
  logIndexWait: 128,
  logIndexBlocks: 4_096,
  /** Places after which a step ends early: two dozen bytes each. */
  logIndexPlaces: 512 * 1024,
  /** Ranges of the index that become one, and rows of one of its batches. */
  logIndexMerge: 16,
  logIndexBatch: 1_000,
  /** Young generation of the log worker: a large one only grows the process. */
  logNurseryMegabytes: 4,
} as const

/** Development helpers. */
export const DEV_LIMITS = {
  /** Rows in one batch of a rewind; a longer one takes several. */
  rewindRows: 50_000,
  snapshots: 10_000,
  /** Blocks of one evm_mine or hardhat_mine. */
  mineBlocks: 100_000,
  /** Time limit of the response to one HTTP request, elsewhere `httpRequestMs`. */
  responseMs: 300_000,
  /** Time limit of one requested block. */
  mineMs: 30_000,
  /** Latest timestamp of a block, unix seconds: the last that a JavaScript date can have. */
  lastTimestamp: 8_640_000_000_000,
  impersonated: 10_000,
  /** Size of a state to load, packed and unpacked, and of a dumped one. */
  stateBytes: 64 * 1024 * 1024,
} as const
