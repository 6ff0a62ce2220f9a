/* Memory, database, state and tries. Units are in the names. */

const MIB = 1024 * 1024

/** `--memory`: what a node's memory outside mapped files is to be. Code, requests, pool and read segments take the program's part, and under full blocks up to 70 MiB more. */
export const MEMORY_LIMITS = { mib: 320, leastMib: 176, mostMib: 65_536, programMib: 144 } as const

/** Memory of stored data, bytes. */
export interface MemoryShares {
  /** LevelDB: cached blocks, written rows that are in no table yet (twice), indexes of open tables. */
  readonly database: number
  /** Nodes of a trie whose rows are on disk; what a block touches comes on top until it is committed. */
  readonly trie: number
  /** Accounts, slots and code of the head. */
  readonly state: number
  /** Blocks and receipts, decoded and as rows. */
  readonly blocks: number
  /** Blocks that log queries read. */
  readonly logs: number
}

/** Divides the memory of a node. A small share makes its part slower, nothing else. */
export const memoryShares = (mib: number = MEMORY_LIMITS.mib): MemoryShares => {
  const part = ((mib - MEMORY_LIMITS.programMib) * MIB) / 22
  // The trie's memory has 32-bit addresses; the state's are maps of a limited size.
  const large = Math.min(8 * part, 2_048 * MIB)
  return { database: 2 * part, trie: large, state: large, blocks: 3 * part, logs: part }
}

export const TRIE_LIMITS = {
  /** Blocks on each other that are not written yet: a candidate for the next height, or those that a development chain writes together. */
  undoLayers: 64,
  /** Changed branches after which rows are written: about 4 MiB. */
  flushBranches: 16_384,
  /** Rows read for a block from which on the next one prefetches, and accounts and slots of one prefetch. */
  prefetchRows: 32,
  prefetchKeys: 64,
  /** Blocks after which rows are written, fewer where less history is kept: a start applies the later ones again. */
  flushBlocks: 32,
  /** Proofs and previews, of the newest state and of older ones each; a longer wait ends with an error. */
  proofs: { queued: 256, waitMs: 5_000 },
} as const

/** LevelDB handle. */
export const STORAGE_LIMITS = {
  /** Rows that are in no table yet are read at each start. */
  writeBufferBytes: 16 * MIB,
  /** Bytes of a table, and of its blocks: of many small ones less would be open, and a read that opens one takes several times as long. */
  table: { maxFileSize: 8 * MIB, blockSize: 16 * 1024 },
  /** Index of an open table, and open tables: LevelDB maps no more than a thousand. */
  tableBytes: 32 * 1024,
  openFiles: { least: 64, most: 1_000 },
  /** Emptied batches kept for the next block; each keeps the memory of its largest use. */
  idleBatches: 2,
  /** Rows that a temporary store keeps in memory before it moves to its folder. */
  memoryBytes: 8 * MIB,
  scanRows: 1_000,
  scanBytes: 256 * 1024,
  /** Time between two lines of the log about a trie that is built. */
  progressMs: 5_000,
  /** Blocks of a segment, and those below the head that stay in tables. */
  segmentBlocks: 8_192,
  recentBlocks: 8_192,
  /** Rows and bytes of a frame of a segment; a longer row has one alone. */
  frameRows: 64,
  frameBytes: 256 * 1024,
  /** Frames, and indexes, of segments in the memory of each thread that reads old blocks: of the program's part of `--memory`. */
  segmentCacheBytes: 1024 * 1024,
} as const

export const STATE_LIMITS = {
  /** A cached account, and a slot, in memory, so far as their share counts. */
  accountBytes: 341,
  slotBytes: 107,
  /** Code read by a block that its journal keeps. */
  journalCodeBytes: 8 * 1024 * 1024,
  historyBlocks: 128,
  proofRollbackEntries: 20_000,
  /** Changed entries up to which an older state is available for synchronous reads. */
  overlayEntries: 5_000,
  /** Reverse diffs pruned per block when there are more than the history length. */
  pruneBlocksPerBlock: 8,
} as const
