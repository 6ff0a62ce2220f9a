/* Database, state and tries. Units are in the names. */

export const TRIE_LIMITS = {
  undoLayers: 8,
  /** Nodes in memory of a trie whose rows are on disk; what a block touches comes on top until it is committed. */
  cacheBytes: 64 * 1024 * 1024,
  /** Changed branches after which rows are written: about 4 MiB. */
  flushBranches: 16_384,
  /** Rows read for a block from which on the next one prefetches, and accounts of one prefetch. */
  prefetchRows: 32,
  prefetchAccounts: 64,
  /** Blocks after which rows are written, fewer where less history is kept: a start applies the later ones again. */
  flushBlocks: 32,
  /** Proofs and previews, of the newest state and of older ones each; a longer wait ends with an error. */
  proofs: { queued: 256, waitMs: 5_000 },
} as const

/** LevelDB handle; two write buffers may be in memory at once. */
export const STORAGE_LIMITS = {
  cacheBytes: 4 * 1024 * 1024,
  writeBufferBytes: 4 * 1024 * 1024,
  maxOpenFiles: 512,
  /** Emptied batches kept for the next block; each keeps the memory of its largest use. */
  idleBatches: 2,
  scanRows: 1_000,
  scanBytes: 256 * 1024,
} as const

export const STATE_LIMITS = {
  accountCache: 65_536,
  slotCache: 262_144,
  codeCacheBytes: 16 * 1024 * 1024,
  /** Code read by a block that its journal keeps. */
  journalCodeBytes: 8 * 1024 * 1024,
  historyBlocks: 128,
  proofRollbackEntries: 20_000,
  /** Changed entries up to which an older state is available for synchronous reads. */
  overlayEntries: 5_000,
  /** Reverse diffs pruned per block when there are more than the history length. */
  pruneBlocksPerCommit: 8,
} as const
