/**
 * List of all tables, each a one-byte key prefix. A number is never reused, even when its table is gone (9, 14, 15, 16, 21): add at the
 * end. Numbers inside keys are big-endian (keys.ts), so ranges of blocks are ranges of keys.
 */
export const BUCKETS = {
  /** Name -> small single values: schema, state, head, cursors. */
  meta: 1,
  /** keccak(address) -> stored account (state/account.ts). */
  account: 2,
  /** keccak(address) + keccak(slot) -> word without leading zeros. */
  slot: 3,
  /** Code hash -> code. */
  code: 4,
  /** Block number -> RLP of the header; its stateRoot is read by state/history/stored-state.ts. */
  header: 5,
  /** Block number -> the rest of the block. */
  body: 6,
  /** Block hash -> block number. */
  blockNumber: 7,
  /** Block number -> receipts. */
  receipts: 8,
  /** Block number -> the block's own certificate. */
  certificate: 10,
  /** keccak(address) + block number -> stored account before that block; two zeros: did not exist. */
  accountHistory: 11,
  /** keccak(address) + keccak(slot) + block number -> word before that block; two zeros: zero. */
  slotHistory: 12,
  /** Block number + part -> the keys that block changed, for pruning and rollback. */
  historyIndex: 13,
  /** Block number -> members of the council after that block: genesis, and the last block of a cycle that changed it. */
  council: 17,
  /** Proof chain: id -> final header and the block that includes it. */
  proofHeader: 18,
  /** Proof chain: height -> id of the final header. */
  proofHeight: 19,
  /** Block number -> supply and reward totals after it. */
  supply: 20,
  /** Development chains: block number -> state root after edits of the state after that block. */
  editedRoot: 22,
  /** Development chains: block number + index of an edit -> its undo values, while a snapshot may need them. */
  editUndo: 23,
  /** Number of a cycle's last block, and of genesis -> status of the council's members (chain/council/council-rows.ts). */
  cycle: 24,
  /** Address of a validator -> encoded evidence against it that no block holds yet. */
  evidence: 25,
  /** During snapshot sync: number of a chunk -> its content's counts (chain/snapshot/sync/staging.ts). */
  snapshotChunk: 26,
  /** Id of a final proof header -> state of the proof chain after it (rules/proof/proof-state.ts); none for headers before a snapshot. */
  proofState: 27,
  /** Development chains: keccak256 of an address or slot -> the address or slot (state/world/preimages.ts). */
  preimage: 28,
  /** Block number + part (from 1) -> the rest of long receipts (chain/store/receipt-parts.ts). */
  receiptPart: 29,
  /** Block number -> wei that its contracts moved and contracts that they created, only of executed blocks that have some. */
  internalTransfers: 30,
  /** Block number -> causes of its transactions' failures, only of executed blocks that have some. */
  failedExecutions: 31,
  /** Path of a branch of the account trie, a nibble per byte; empty for the root -> its row (state/trie/assembly/rows.ts). */
  accountTrie: 32,
  /** keccak(address) + path -> the same for the account's storage trie. */
  storageTrie: 33,
  /** Range of blocks + hash of an address or topic + part -> places of its logs (chain/store/log-index.ts). */
  logPostings: 34,
  /** First bytes of a transaction hash + block number + index -> one byte (chain/store/body-row.ts). */
  transactionPlace: 35,
} as const

/** Tables whose old rows are in segments (storage/segments.ts): keys begin with the block number. Ascending: a segment's index is searched by them. One more needs a new schema: `Store.get` looks for old rows in segments alone. */
export const SEGMENT_BUCKETS: readonly number[] = [
  BUCKETS.body,
  BUCKETS.receipts,
  BUCKETS.certificate,
  BUCKETS.receiptPart,
  BUCKETS.internalTransfers,
  BUCKETS.failedExecutions,
]
