import type { Hex } from '@tandem/base/bytes.ts'
import { type EvmFork, isForkSince } from '../../src/config/forks.ts'
import type { Header } from '../../src/primitives/header.ts'

const ETHER = 10n ** 18n
/** Divisor of a block's reward for each uncle it includes. */
const NEPHEW_SHARE = 32n
/** Generations for which an uncle is paid, an eighth less for each. */
const UNCLE_GENERATIONS = 8n

interface BlockRewardPayment {
  readonly address: Hex
  readonly amountWei: bigint
}

/** Reward of a proof-of-work block for its miner, wei (EIP-649, EIP-1234); nothing from the merge on. */
export const blockReward = (fork: EvmFork): bigint => {
  if (isForkSince(fork, 'paris')) return 0n
  if (isForkSince(fork, 'constantinople')) return 2n * ETHER
  return isForkSince(fork, 'byzantium') ? 3n * ETHER : 5n * ETHER
}

/** Payments of a block after its transactions: to the miners of its uncles, and to its own (Yellow Paper 11.3). */
export const rewardPayments = (
  fork: EvmFork,
  header: Pick<Header, 'number' | 'miner'>,
  uncles: readonly Pick<Header, 'number' | 'miner'>[],
): readonly BlockRewardPayment[] => {
  const reward = blockReward(fork)
  if (reward === 0n) return []
  const payments = uncles.map(uncle => ({
    address: uncle.miner,
    amountWei: (reward * (UNCLE_GENERATIONS + BigInt(uncle.number - header.number))) / UNCLE_GENERATIONS,
  }))
  const own = reward + (reward / NEPHEW_SHARE) * BigInt(uncles.length)
  return [...payments, { address: header.miner, amountWei: own }]
}
