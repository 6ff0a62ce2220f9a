import type { FeeShares } from '../config/networks.ts'
import { type Hex, ZERO_ADDRESS } from '../util/bytes.ts'

/** How an amount of fees is divided, wei. The parts sum to the amount. */
export interface FeeSplit {
  readonly proposer: bigint
  readonly miner: bigint
  readonly foundation: bigint
  readonly burnt: bigint
}

/**
 * Divides fees (gas used x effective price, wei): each share is floored, what the floors leave over is burnt (docs/design/money.md#fees).
 * A block's fees are divided once, as one sum, so that its rounding does not depend on how many transactions it has.
 */
export const splitFees = (feesWei: bigint, shares: FeeShares): FeeSplit => {
  const proposer = (feesWei * shares.proposerPercent) / 100n
  const miner = (feesWei * shares.minerPercent) / 100n
  const foundation = (feesWei * shares.foundationPercent) / 100n
  return { proposer, miner, foundation, burnt: feesWei - proposer - miner - foundation }
}

/** Who is paid in a block. */
export interface FeeRecipients {
  readonly proposerReward: Hex
  /** The zero address until the first proof header. */
  readonly miner: Hex
  readonly foundation: Hex
}

/**
 * The fees with their recipients: without a miner the foundation takes the miner's share, as it does of the minting (docs/design/money.md#fees),
 * so that no share goes to the zero address, where it would be burnt without being counted.
 */
export const assignFees = (feesWei: bigint, shares: FeeShares, miner: Hex): FeeSplit => {
  const split = splitFees(feesWei, shares)
  if (miner !== ZERO_ADDRESS) return split
  return { ...split, miner: 0n, foundation: split.foundation + split.miner }
}
