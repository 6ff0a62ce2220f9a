import type { ChainParams } from '../config/networks.ts'
import type { StateChanges } from '../state/update/state-changes.ts'
import type { Hex } from '../util/bytes.ts'

/** What the consensus layer of an Ethereum chain gives to a block, and takes from it (fixture mode). */
export interface BeaconEnv {
  /** Root of the parent's beacon block (EIP-4788); undefined before Cancun. */
  readonly parentRoot: Hex | undefined
  /** Whose logs are deposits (EIP-6110). */
  readonly depositContract: Hex
}

/** Blobs of a block on a chain with Ethereum's rules (EIP-4844); the networks of this product have none (docs/design/evm-rules.md#forks-in-force). */
export interface BlobEnv {
  /** Wei per unit of blob gas: BLOBBASEFEE. */
  readonly baseFeePerGas: bigint
  /** Most blobs of a block (EIP-7691, EIP-7892). */
  readonly maxPerBlock: number
}

/** Everything of a block that a transaction's result depends on, besides the state. */
export interface BlockEnv {
  readonly params: ChainParams
  readonly number: number
  readonly timestamp: number
  readonly gasLimit: bigint
  readonly baseFeePerGas: bigint
  /** COINBASE and beneficiary of the miner's share; zero address until the first proof header. */
  readonly miner: Hex
  /** Receives the proposer's share. */
  readonly proposerReward: Hex
  /** Receives the foundation's share, and the miner's while `miner` is zero. */
  readonly foundation: Hex
  readonly prevRandao: Hex
  /** Left out: transactions with blobs (type 3) are refused, BLOBBASEFEE is 0. */
  readonly blobs?: BlobEnv
  readonly beacon?: BeaconEnv
  /** BLOCKHASH of one of the 256 blocks before; ZERO_HASH elsewhere. */
  blockHash(number: number): Hex
  /** Root of the state after `changes` of the block so far, which receipts hold before Byzantium; left out: they hold a status. */
  stateRoot?(changes: StateChanges): Promise<Hex>
}
