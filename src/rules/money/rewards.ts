import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { RewardParams } from '../../config/networks.ts'
import { cycleOf, endsCycle, lastOfCycle } from '../council/cycle.ts'

/** Number of reward cuts so far: 0 for the first `halvingBlocks` blocks (docs/design/money.md#halving). */
export const periodOf = (number: number, params: RewardParams): number =>
  number === 0 ? 0 : Math.floor((number - 1) / params.halvingBlocks)

/** Minting of one cycle in a period, wei: floored once, from exact powers. */
export const rewardOfPeriod = (period: number, params: RewardParams): bigint => {
  const exponent = BigInt(period)
  return (params.cycleRewardWei * params.halvingNumerator ** exponent) / params.halvingDenominator ** exponent
}

/** Minting of a block, wei: a cycle's reward at its last block, 0 elsewhere. */
export const mintedAt = (number: number, params: RewardParams): bigint =>
  endsCycle(number, params.cycleBlocks) ? rewardOfPeriod(periodOf(number, params), params) : 0n

/** Divides a cycle's reward into three parts, wei; the foundation gets the remainders of the floors. */
export const splitReward = (rewardWei: bigint, params: RewardParams) => {
  const miners = (rewardWei * params.minersPercent) / 100n
  const union = (rewardWei * params.unionPercent) / 100n
  return { miners, union, foundation: rewardWei - miners - union }
}

/** Share of a block in what its cycle mints for the union, wei; the block that ends the cycle has the remainder. */
export const unionShareAt = (number: number, params: RewardParams): bigint => {
  if (number === 0) return 0n
  const last = lastOfCycle(cycleOf(number, params.cycleBlocks), params.cycleBlocks)
  const { union } = splitReward(mintedAt(last, params), params)
  const blocks = BigInt(params.cycleBlocks)
  return union / blocks + (number === last ? union % blocks : 0n)
}

/** Recipients of what a cycle mints. */
interface CycleRecipients {
  /** Reward address of the proposer of each block of the cycle, the paying block last. */
  readonly proposers: readonly Hex[]
  /** Coinbases of the newest proof headers up to the paying block, the newest last; none before the first header. */
  readonly coinbases: readonly Hex[]
  readonly foundation: Hex
}

type RewardRole = 'miner' | 'union' | 'foundation'

/** Balance the protocol adds after the last transaction of a block. */
export interface RewardCredit {
  readonly address: Hex
  readonly amountWei: bigint
  readonly role: RewardRole
}

/**
 * Credits of the block that ends a cycle, in order of execution; none for any other block (docs/design/money.md#minting). The miners' share is
 * divided equally among the newest proof headers, the union's among the blocks of the cycle; remainders go to the last ones. Without a proof
 * header the foundation has the miners' share. One credit per role and address.
 */
export const rewardCredits = (
  number: number,
  params: RewardParams,
  { proposers, coinbases, foundation }: CycleRecipients,
): readonly RewardCredit[] => {
  if (!endsCycle(number, params.cycleBlocks)) return []
  assert(proposers.length === params.cycleBlocks, 'a reward is divided among all the blocks of its cycle')
  const split = splitReward(mintedAt(number, params), params)
  const credits = new Credits()
  if (coinbases.length === 0) credits.add('foundation', foundation, split.miners)
  else payEqually(split.miners, coinbases, (coinbase, part) => credits.add('miner', coinbase, part))
  payEqually(split.union, proposers, (proposer, part) => credits.add('union', proposer, part))
  credits.add('foundation', foundation, split.foundation)
  return credits.list()
}

/** Credits of the miners in the block that ends a cycle; none for any other block, and none without a proof header. */
export const minerCredits = (
  number: number,
  params: RewardParams,
  coinbases: readonly Hex[],
): readonly RewardCredit[] => {
  const credits = new Credits()
  const { miners } = splitReward(mintedAt(number, params), params)
  payEqually(miners, coinbases, (coinbase, part) => credits.add('miner', coinbase, part))
  return credits.list()
}

const payEqually = (total: bigint, recipients: readonly Hex[], pay: (recipient: Hex, amount: bigint) => void): void => {
  const count = BigInt(recipients.length)
  recipients.forEach((recipient, index) => {
    pay(recipient, total / count + (index === recipients.length - 1 ? total % count : 0n))
  })
}

/** Sums by role and address, in the order of first use. */
class Credits {
  readonly #sums = new Map<string, RewardCredit>()

  add(role: RewardRole, address: Hex, amountWei: bigint): void {
    if (amountWei === 0n) return
    const key = `${role} ${address}`
    const before = this.#sums.get(key)?.amountWei ?? 0n
    this.#sums.set(key, { address, amountWei: before + amountWei, role })
  }

  list(): readonly RewardCredit[] {
    return [...this.#sums.values()]
  }
}
