import type { RewardParams } from '../../config/networks.ts'
import { assert } from '../../util/assert.ts'
import { type Hex, ZERO_ADDRESS } from '../../util/bytes.ts'
import { endsCycle } from '../council/cycle.ts'

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

interface RewardSplit {
  readonly miners: bigint
  readonly union: bigint
  readonly foundation: bigint
}

/** Divides a cycle's reward into three parts, wei; the foundation gets the remainders of the floors. */
export const splitReward = (rewardWei: bigint, params: RewardParams): RewardSplit => {
  const miners = (rewardWei * params.minersPercent) / 100n
  const union = (rewardWei * params.unionPercent) / 100n
  return { miners, union, foundation: rewardWei - miners - union }
}

/** Payees of one block of the cycle. */
export interface CycleBlock {
  /** The zero address while no proof header is final. */
  readonly miner: Hex
  readonly proposerReward: Hex
}

type RewardRole = 'miner' | 'union' | 'foundation'

/** Balance the protocol adds after the last transaction of a block. */
export interface RewardCredit {
  readonly address: Hex
  readonly amountWei: bigint
  readonly role: RewardRole
}

/**
 * Credits of the block that ends a cycle, in order of execution; none for any other block (docs/design/money.md#minting). `turns`
 * are the blocks of the cycle in order, the paying block last: each gets an equal part of the miners' and of the union's share,
 * the paying block the remainders. A block without a miner pays the foundation. One credit per role and address.
 */
export const rewardCredits = (
  number: number,
  params: RewardParams,
  turns: readonly CycleBlock[],
  foundation: Hex,
): readonly RewardCredit[] => {
  if (!endsCycle(number, params.cycleBlocks)) return []
  assert(turns.length === params.cycleBlocks, 'a reward is divided among all the blocks of its cycle')
  const split = splitReward(mintedAt(number, params), params)
  const credits = new Credits()
  payTurns(split.miners, turns, (turn, amount) => {
    if (turn.miner === ZERO_ADDRESS) credits.add('foundation', foundation, amount)
    else credits.add('miner', turn.miner, amount)
  })
  payTurns(split.union, turns, (turn, amount) => credits.add('union', turn.proposerReward, amount))
  credits.add('foundation', foundation, split.foundation)
  return credits.list()
}

const payTurns = (
  total: bigint,
  turns: readonly CycleBlock[],
  pay: (turn: CycleBlock, amount: bigint) => void,
): void => {
  const count = BigInt(turns.length)
  turns.forEach((turn, index) => {
    pay(turn, total / count + (index === turns.length - 1 ? total % count : 0n))
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
