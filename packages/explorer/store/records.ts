import type { Hex } from '@tandem/base/bytes.ts'

/** Rows of the index, as the indexer makes them from a block and every back end stores them. */

export const TRANSACTION_KINDS = ['transfer', 'call', 'create', 'token'] as const
/** `token`: it moved tokens; `call`: it has calldata; `transfer`: it has none. */
export type TransactionKind = (typeof TRANSACTION_KINDS)[number]

export const REWARD_ROLES = ['miner', 'union'] as const
/** Ground of a block's reward: its proof header, or its proposal. */
export type RewardRole = (typeof REWARD_ROLES)[number]

export const TOKEN_STANDARDS = ['ERC-20', 'ERC-721', 'ERC-1155'] as const
export type TokenStandard = (typeof TOKEN_STANDARDS)[number]

export interface TransactionRecord {
  readonly index: number
  readonly hash: Hex
  readonly from: Hex
  readonly to: Hex | null
  /** Contract of a successful creation. */
  readonly created: Hex | null
  readonly value: bigint
  readonly gas: bigint
  readonly gasUsed: bigint
  /** Effective price, wei. */
  readonly gasPrice: bigint
  readonly nonce: number
  readonly type: number
  readonly status: 0 | 1
  readonly kind: TransactionKind
  /** First four bytes of calldata. */
  readonly methodId: Hex | null
}

/** One movement of a token; a batch of ERC-1155 gives several with the same log index. */
export interface TransferRecord {
  readonly logIndex: number
  /** Position in a batch. */
  readonly position: number
  readonly transactionIndex: number
  readonly standard: TokenStandard
  readonly token: Hex
  readonly from: Hex
  readonly to: Hex
  /** 1 for ERC-721. */
  readonly amount: bigint
  readonly tokenId: bigint | null
}

/** In the order of the numbers that stand in the index. */
export const INTERNAL_KINDS = ['call', 'create', 'selfdestruct'] as const

/** Wei that code moved below the transaction's own message, or a contract that code created (then also without wei). */
export interface InternalTransfer {
  readonly kind: (typeof INTERNAL_KINDS)[number]
  readonly from: Hex
  /** Recipient, contract created, or beneficiary of a self-destruct. */
  readonly to: Hex
  readonly value: bigint
}

export interface BlockInternalTransfer extends InternalTransfer {
  readonly transactionIndex: number
}

/** Cause of a transaction's failure. */
export interface FailedExecution {
  readonly transactionIndex: number
  /** `execution reverted`, or the reason why code stopped. */
  readonly error: string
  /** Start of what the code returned; empty unless it reverted. */
  readonly output: Uint8Array
}

/** Internal transfer with its position in its transaction. */
export interface InternalRecord extends BlockInternalTransfer {
  /** Position among those of its transaction. */
  readonly position: number
}

/** Proof header that a block made final. */
export interface ProofRecord {
  readonly height: number
  readonly id: Hex
  readonly miner: Hex
  /** Timestamp of its anchor. */
  readonly timestamp: number
  /** Expected number of hashes. */
  readonly difficulty: bigint
  readonly nonce: Hex
  readonly algorithm: string
}

export interface MinerCredit {
  readonly address: Hex
  readonly amountWei: bigint
}

/** Index rows of one block. */
export interface BlockRecord {
  readonly number: number
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestamp: number
  readonly proposer: Hex
  readonly miner: Hex
  readonly gasUsed: bigint
  readonly gasLimit: bigint
  readonly baseFeePerGas: bigint
  readonly size: number
  readonly feesWei: bigint
  readonly burntWei: bigint
  readonly mintedWei: bigint
  /** Earned by proposing it: a share of the fees and of the cycle's minting, which is paid at the end of the cycle. */
  readonly proposerWei: bigint
  /** The miner's share of the fees; 0n without one. */
  readonly minerWei: bigint
  /** Minting of a cycle for miners, in the block that ends it; one item for each address. */
  readonly minerCredits: readonly MinerCredit[]
  /** Reward cycle that the block is of; 0 is the first. */
  readonly cycle: number
  readonly transactions: readonly TransactionRecord[]
  readonly transfers: readonly TransferRecord[]
  readonly internal: readonly InternalRecord[]
  /** Causes of failures, as far as the node knows them. */
  readonly failed: readonly FailedExecution[]
  readonly proofs: readonly ProofRecord[]
}

/** Position of the index on the chain: the last indexed block. */
export interface IndexPosition {
  readonly number: number
  readonly hash: Hex
}

/** A token's results of the calls of its standard; null where a result is missing or unreadable. */
export interface TokenMetadata {
  readonly name: string | null
  readonly symbol: string | null
  readonly decimals: number | null
  readonly supply: bigint | null
}

const SECONDS_PER_HOUR = 3_600
const SECONDS_PER_DAY = 86_400

/** Days since 1970-01-01, UTC. */
export const dayOf = (timestamp: number): number => Math.floor(timestamp / SECONDS_PER_DAY)

/** Hours since then. */
export const hourOf = (timestamp: number): number => Math.floor(timestamp / SECONDS_PER_HOUR)

/** Address besides the sender: the recipient, or the contract created; null for a failed creation. */
export const counterpartOf = ({ to, created }: Pick<TransactionRecord, 'to' | 'created'>): Hex | null => to ?? created
