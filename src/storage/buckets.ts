/**
 * The one list of tables, each a one-byte key prefix. A number is never reused, also when its table is gone: add at the end.
 * Numbers inside keys are big-endian (keys.ts), so ranges of blocks are ranges of keys.
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
  /** Transaction hash -> block number and index. */
  transaction: 9,
  /** Block number -> the block's own certificate. */
  certificate: 10,
  /** keccak(address) + block number -> stored account before that block; empty: did not exist. */
  accountHistory: 11,
  /** keccak(address) + keccak(slot) + block number -> word before that block; empty: zero. */
  slotHistory: 12,
  /** Block number + part -> the keys that block changed, for pruning and rollback. */
  historyIndex: 13,
  /** Block number -> logs bloom, only of blocks with logs. */
  logBloom: 14,
  /** Address + block number -> nothing: the block holds logs of this address. */
  logAddress: 15,
  /** Sender + nonce -> raw local transaction of the pool. */
  poolJournal: 16,
  /** Block number -> members of the council as that block left it: genesis, and the last block of a cycle that changed it. */
  council: 17,
  /** Proof chain: headers by id. */
  proofHeader: 18,
  /** Proof chain: height -> id of the final header. */
  proofHeight: 19,
  /** Block number -> supply and reward totals after it. */
  supply: 20,
  /** Faucet: address or ip -> time of the last grant. */
  faucet: 21,
  /** Development chains: block number -> state root after edits of the state that block left. */
  editedRoot: 22,
  /** Development chains: block number + index of an edit -> what undoes it, while a snapshot may want that. */
  editUndo: 23,
  /** Number of a cycle's last block, and of genesis -> how the members of the council stand (chain/council/council-rows.ts). */
  cycle: 24,
  /** Address of a validator -> encoded evidence against it that no block holds yet. */
  evidence: 25,
  /** While a snapshot is fetched: number of a chunk -> what it brought (chain/snapshot/sync/staging.ts). */
  snapshotChunk: 26,
} as const

export type Bucket = (typeof BUCKETS)[keyof typeof BUCKETS]
