import type { ChainParams } from '../config/networks.ts'
import type { Hex } from '../util/bytes.ts'

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
  /** BLOCKHASH of one of the 256 blocks before; ZERO_HASH elsewhere. */
  blockHash(number: number): Hex
}
