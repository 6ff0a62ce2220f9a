/* Bounds that decide validity, equal on every network: a change is a fork (tuning: config/limits; parameters: config/networks.ts). */

/** Bounds of a block. */
export const BLOCK_BOUNDS = {
  transactionBytes: 128 * 1024,
  /** Code size of a contract, where the chain's parameters set none; init code may have twice as many bytes. */
  codeBytes: 24 * 1024,
  bodyBytes: 4 * 1024 * 1024,
  /** Header in a message of a peer: the certificate of the largest committee takes 9 KB. */
  headerBytes: 16 * 1024,
  futureSeconds: 1,
} as const

/** Strict decoding of one item; no message of this protocol nests deeper than 6. */
export const RLP_BOUNDS = { depth: 16, items: 262_144 } as const

/** Bounds of the genesis block and its file. `v` of a legacy signature (2 id + 36, EIP-155) is exact up to this chain id. */
export const GENESIS_BOUNDS = { codeBytes: 1024 * 1024, vanityBytes: 32, chainId: 4_503_599_627_370_475 } as const

/** Bounds of the council: members, as in its contract, and bytes of a member's name. */
export const COUNCIL_BOUNDS = {
  members: 256,
  nameBytes: 32,
  /** Minimum of serving members, however many are silent or jailed, where there are enough (docs/design/council.md#qualification). */
  leastServing: 4,
  /** Strikes that count against a member that misses its turns: it rests 2^(strikes - 1) cycles (docs/design/council.md#proposer). */
  strikes: 6,
} as const

/** Number of the newest proof headers that share the miners' part of a cycle (docs/design/money.md#minting). */
const paidHeaders = 60

/** Bounds of the proof chain's state: `stateBytes` of its RLP, with a coinbase of 21 bytes for each of `paidHeaders`. */
export const PROOF_BOUNDS = { paidHeaders, stateBytes: 203 + paidHeaders * 21 } as const

/** Bounds of the evidence in a block: accusations, and their bytes; one with a justification of the largest committee fits. */
export const EVIDENCE_BOUNDS = { items: 16, bytes: 48 * 1024 } as const

/** Bounds of committees and their messages. */
export const CONSENSUS_BOUNDS = {
  maxTimeoutExponent: 6,
  timeoutCapMs: 60_000,
  /** Largest committee a genesis may set; no list in a consensus message is longer. */
  committee: 128,
  /** Smallest one it may set: a sample of fewer cannot decide without the member on trial (docs/design/council.md#committee). */
  leastCommittee: 3,
  /** One piece of evidence: an unjustified proposal holds two quorums. */
  evidenceBytes: 64 * 1024,
  voteBytes: 32 * 1024,
  proposalBytes: 5 * 1024 * 1024,
} as const

/** Bounds of state snapshots, part of their format 2: a change makes another format. */
export const SNAPSHOT_BOUNDS = {
  /** Size of a chunk, unless it is one account. */
  chunkBytes: 1024 * 1024,
  /** Accounts with more bytes of slots have chunks of their own. */
  inlineBytes: 64 * 1024,
} as const
