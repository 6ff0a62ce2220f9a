import type { RewardParams } from '../../../config/networks.ts'
import { periodOf, rewardOfPeriod, splitReward } from '../../../rules/money/rewards.ts'
import { type MintedPeriod, mintedPeriods } from '../../../rules/money/supply.ts'
import { percentOf, roundTo, tokensFromWei } from '../format.ts'

/** Most tokens there can ever be, wei: 1.5 bn distributed before, 4.0 bn minted (docs/explorer.md#supply). */
const MAX_SUPPLY_WEI = 5_500_000_000n * 10n ** 18n

const sumOf = (periods: readonly MintedPeriod[]): bigint => periods.reduce((sum, { mintedWei }) => sum + mintedWei, 0n)

const amounts = (rewardWei: bigint, mintedWei: bigint) => ({
  rewardPerCycle: tokensFromWei(rewardWei),
  rewardPerCycleWei: rewardWei.toString(),
  totalMinted: tokensFromWei(mintedWei),
  totalMintedWei: mintedWei.toString(),
})

/** Body of /api/supply after a block; integers of wei until the last step. */
export const supplyBody = (number: number, rewards: RewardParams) => {
  const { halvingBlocks } = rewards
  const periods = mintedPeriods(number, rewards)
  const mintedWei = sumOf(periods)
  const split = splitReward(mintedWei, rewards)
  const share = (totalWei: bigint, percent: bigint) => ({
    share: Number(percent) / 100,
    total: tokensFromWei(totalWei),
    totalWei: totalWei.toString(),
  })
  const rest = 100n - rewards.minersPercent - rewards.unionPercent
  return {
    totalSupply: tokensFromWei(MAX_SUPPLY_WEI),
    totalSupplyWei: MAX_SUPPLY_WEI.toString(),
    totalMinted: tokensFromWei(mintedWei),
    totalMintedWei: mintedWei.toString(),
    mintedPercent: percentOf(mintedWei, MAX_SUPPLY_WEI),
    halvingBlock: halvingBlocks,
    breakdown: {
      miners: share(split.miners, rewards.minersPercent),
      union: share(split.union, rewards.unionPercent),
      foundation: share(split.foundation, rest),
    },
    preHalving: {
      blocks: Math.min(number, halvingBlocks),
      ...amounts(rewardOfPeriod(0, rewards), sumOf(periods.slice(0, 1))),
    },
    postHalving: {
      blocks: Math.max(0, number - halvingBlocks),
      ...amounts(rewardOfPeriod(Math.max(1, periodOf(number, rewards)), rewards), sumOf(periods.slice(1))),
    },
    periods: periods.map(({ index, fromBlock, toBlock, rewardWei, mintedWei }) => ({
      index,
      fromBlock,
      toBlock,
      ...amounts(rewardWei, mintedWei),
    })),
  }
}

/** The next cut of the reward, as seen from a block. */
interface NextHalving {
  readonly nextBlock: number
  readonly blocksRemaining: number
  readonly currentWei: bigint
  readonly nextWei: bigint
}

export const nextHalving = (number: number, rewards: RewardParams): NextHalving => {
  const period = periodOf(number, rewards)
  const nextBlock = (period + 1) * rewards.halvingBlocks
  return {
    nextBlock,
    blocksRemaining: nextBlock - number,
    currentWei: rewardOfPeriod(period, rewards),
    nextWei: rewardOfPeriod(period + 1, rewards),
  }
}

const SECONDS_PER_YEAR = 31_536_000

/** Pay of the union in the year after a block, wei: cycles before the next halving at the current reward, the others at the next. */
export const unionYearWei = (
  number: number,
  rewards: RewardParams,
  blockTimeMs: number,
): { readonly now: bigint; readonly halvingAware: bigint } => {
  const { blocksRemaining, currentWei, nextWei } = nextHalving(number, rewards)
  const blocks = Math.floor((SECONDS_PER_YEAR * 1_000) / (blockTimeMs === 0 ? 1_000 : blockTimeMs))
  const cycles = BigInt(Math.floor(blocks / rewards.cycleBlocks))
  const before = BigInt(Math.floor(Math.min(blocks, blocksRemaining) / rewards.cycleBlocks))
  const part = (wei: bigint): bigint => (wei * rewards.unionPercent) / 100n
  return { now: cycles * part(currentWei), halvingAware: before * part(currentWei) + (cycles - before) * part(nextWei) }
}

/** Percent a year of a stake, two decimals; null without a stake. */
export const aprOf = (yearWei: bigint, stakeWei: bigint): number | null =>
  stakeWei <= 0n ? null : roundTo(Number((yearWei * 1_000_000n) / stakeWei) / 10_000, 2)
