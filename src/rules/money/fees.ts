import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import type { FeeShares } from '../../config/networks.ts'

/** Division of an amount of fees, wei. The parts sum to the amount. */
export interface FeeSplit {
  readonly proposer: bigint
  readonly miner: bigint
  readonly foundation: bigint
  readonly burnt: bigint
}

/** Divides fees, wei, of a block as one sum, so that rounding is one: floored shares, the rest burnt (docs/design/money.md#fees). */
export const splitFees = (feesWei: bigint, shares: FeeShares): FeeSplit => {
  const proposer = (feesWei * shares.proposerPercent) / 100n
  const miner = (feesWei * shares.minerPercent) / 100n
  const foundation = (feesWei * shares.foundationPercent) / 100n
  return { proposer, miner, foundation, burnt: feesWei - proposer - miner - foundation }
}

/** Assigns fees to recipients; without a miner the foundation gets that share (docs/design/money.md#fees): the zero address would burn it. */
export const assignFees = (feesWei: bigint, shares: FeeShares, miner: Hex): FeeSplit => {
  const split = splitFees(feesWei, shares)
  if (miner !== ZERO_ADDRESS) return split
  return { ...split, miner: 0n, foundation: split.foundation + split.miner }
}
