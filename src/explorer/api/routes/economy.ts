import type { RewardParams } from '../../../config/networks.ts'
import { periodOf, rewardOfPeriod, splitReward } from '../../../rules/money/rewards.ts'
import { type MintedPeriod, maxSupply, mintedPeriods, supplyAt } from '../../../rules/money/supply.ts'
import { askNode } from '../../chain/node-rpc.ts'
import type { ApiContext } from '../api-route.ts'
import { percentOf, roundTo, tokensFromWei } from '../format.ts'

const QUANTITY = /^0x[0-9a-f]{1,64}$/

/** Wei there are at the head, as `native_getTotalSupply` tells it; nothing is burnt where a node does not serve that. */
export const currentSupply = async ({ node, source, params, genesisWei }: ApiContext): Promise<SupplyAtHead> => {
  const number = (await source.headNumber()) ?? 0
  const response = await askNode(node, 'native_getTotalSupply', ['latest'])
  const { result } = JSON.parse(response ?? '{}') as { readonly result?: { readonly totalBurnt?: unknown } | null }
  const burnt = result?.totalBurnt
  const burntWei = typeof burnt === 'string' && QUANTITY.test(burnt) ? BigInt(burnt) : 0n
  return { number, burntWei, supplyWei: supplyAt(number, genesisWei, burntWei, params.rewards) }
}

interface SupplyAtHead {
  readonly number: number
  readonly supplyWei: bigint
  readonly burntWei: bigint
}

const sumOf = (periods: readonly MintedPeriod[]): bigint => periods.reduce((sum, { mintedWei }) => sum + mintedWei, 0n)

const amounts = (rewardWei: bigint, mintedWei: bigint) => ({
  rewardPerCycle: tokensFromWei(rewardWei),
  rewardPerCycleWei: rewardWei.toString(),
  totalMinted: tokensFromWei(mintedWei),
  totalMintedWei: mintedWei.toString(),
})

interface SupplyOptions {
  readonly rewards: RewardParams
  readonly genesisWei: bigint
}

/** Body of /api/supply after a block; integers of wei until the last step. */
export const supplyBody = ({ number, supplyWei, burntWei }: SupplyAtHead, { rewards, genesisWei }: SupplyOptions) => {
  const { halvingBlocks } = rewards
  const maxWei = maxSupply(genesisWei, rewards)
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
    totalSupply: tokensFromWei(maxWei),
    totalSupplyWei: maxWei.toString(),
    currentSupply: tokensFromWei(supplyWei),
    currentSupplyWei: supplyWei.toString(),
    totalBurntWei: burntWei.toString(),
    totalMinted: tokensFromWei(mintedWei),
    totalMintedWei: mintedWei.toString(),
    mintedPercent: percentOf(mintedWei, maxWei),
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
