import type { Hex } from '@tandem/base/bytes.ts'
import type { Uint64 } from '@tandem/base/uint64.ts'
import type { ChainParams } from '../config/networks.ts'
import { decodeHeader } from '../primitives/header.ts'
import type { StateChanges } from '../state/update/state-update.ts'
import { BUCKETS } from '../storage/buckets.ts'
import { numberKey } from '../storage/keys.ts'
import type { Store } from '../storage/store.ts'

/** Returns the hash of a stored block that has a child, which holds it; undefined for others. */
export const storedBlockHash = (store: Store, number: number): Hex | undefined => {
  if (number < 0) return undefined
  const row = store.getSync(BUCKETS.header, numberKey(number + 1))
  return row && decodeHeader(row).parentHash
}

/** Values of an Ethereum chain's consensus layer in a block, and its requests (fixture mode). */
export interface BeaconEnv {
  /** Root of the parent's beacon block (EIP-4788); undefined before Cancun. */
  readonly parentRoot: Hex | undefined
  /** Contract whose logs are deposits (EIP-6110). */
  readonly depositContract: Hex
}

/** Blob values of a block under Ethereum's rules (EIP-4844); this product's networks have none (docs/design/evm-rules.md#forks-in-force). */
export interface BlobEnv {
  /** Wei per unit of blob gas: BLOBBASEFEE. */
  readonly baseFeePerGas: bigint
  /** Maximum blobs per block (EIP-7691, EIP-7892). */
  readonly maxPerBlock: number
}

/** Block values on which a transaction's result depends, besides the state. */
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
  /** Omitted: transactions with blobs (type 3) are invalid, BLOBBASEFEE is 0. */
  readonly blobs?: BlobEnv
  readonly beacon?: BeaconEnv
  /** Hash of the block or of one before it, as far as known; else ZERO_HASH. Engines limit BLOCKHASH to the last 256 blocks. */
  blockHash(number: number): Hex
  /** Root of the state after `changes` of the block so far, which receipts contain before Byzantium; omitted: they contain a status. */
  stateRoot?(changes: StateChanges): Promise<Hex>
}

/** BlockEnv as an engine sees it: overrides set number and time to any value. */
export interface EngineEnv extends Omit<BlockEnv, 'number' | 'timestamp'> {
  readonly number: Uint64
  readonly timestamp: Uint64
}

/** BlockEnv that can be sent to a thread: without functions and params. The thread finds older hashes in the store. */
export interface SerializedEnv extends Omit<BlockEnv, 'params' | 'blockHash' | 'stateRoot'> {
  readonly hash: Hex
  readonly parentHash: Hex
}
