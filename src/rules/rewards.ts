import type { RewardParams } from '../config/networks.ts'
import { assert } from '../util/assert.ts'
import { type Hex, ZERO_ADDRESS } from '../util/bytes.ts'
import { endsCycle } from './cycle.ts'

/** Periods between two cuts of the reward: 0 for the first `halvingBlocks` blocks (docs/design/money.md#halving). */
export const periodOf = (number: number, params: RewardParams): number =>
  number === 0 ? 0 : Math.floor((number - 1) / params.halvingBlocks)

/** What one cycle mints in a period, wei: floored once, from exact powers. */
export const rewardOfPeriod = (period: number, params: RewardParams): bigint => {
  const exponent = BigInt(period)
  return (params.cycleRewardWei * params.halvingNumerator ** exponent) / params.halvingDenominator ** exponent
}

/** What a block mints, wei: a cycle's reward at its last block, nothing elsewhere. */
export const mintedAt = (number: number, params: RewardParams): bigint =>
  endsCycle(number, params.cycleBlocks) ? rewardOfPeriod(periodOf(number, params), params) : 0n

export interface RewardSplit {
  readonly miners: bigint
  readonly union: bigint
  readonly foundation: bigint
}

/** A cycle's reward in its three parts, wei; the foundation has what the floors leave. */
export const splitReward = (rewardWei: bigint, params: RewardParams): RewardSplit => {
  const miners = (rewardWei * params.minersPercent) / 100n
  const union = (rewardWei * params.unionPercent) / 100n
  return { miners, union, foundation: rewardWei - miners - union }
}

/** Who stood behind one block of the cycle. */
export interface CycleBlock {
  /** The zero address while no proof header is final. */
  readonly miner: Hex
  readonly proposerReward: Hex
}

export type RewardRole = 'miner' | 'union' | 'foundation'

/** A balance the protocol adds after the last transaction of a block. */
export interface RewardCredit {
  readonly address: Hex
  readonly amountWei: bigint
  readonly role: RewardRole
}

/**
 * The credits of the block that ends a cycle, in the order they are made; none for any other block (docs/design/money.md#minting).
 * `turns` are the blocks of the cycle in order, the paying block last: each has an equal part of the miners' and of the union's
 * share, the paying block the remainders. A turn without a miner pays the foundation. One credit for each role and address.
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

/** Sums by role and address, in the order of first mention. */
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
