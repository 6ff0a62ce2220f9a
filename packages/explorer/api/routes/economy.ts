import { askResult } from '../../chain/node-rpc.ts'
import { type ChainRules, type RewardRules, secondsOf } from '../../chain/rules.ts'
import { type ApiContext, tandemOf } from '../api-route.ts'
import { percentOf, roundTo, tokensFromWei } from '../format.ts'

/** Blocks of one reward period up to a height, and their minting. */
interface MintedPeriod {
  readonly index: number
  readonly fromBlock: number
  /** The period's last block, or the requested height. */
  readonly toBlock: number
  readonly rewardWei: bigint
  readonly mintedWei: bigint
}

/** Number of reward cuts before a block. */
export const periodOf = (number: number, { halvingBlocks }: RewardRules): number =>
  number === 0 ? 0 : Math.floor((number - 1) / halvingBlocks)

/** Minting of a cycle in a period, wei. */
export const rewardOfPeriod = (period: number, { cycleWei }: RewardRules): bigint => cycleWei[period] ?? 0n

/** Periods that have begun up to a height. */
const mintedPeriods = (number: number, rewards: RewardRules): readonly MintedPeriod[] => {
  const { halvingBlocks, cycleBlocks } = rewards
  const count = number === 0 ? 0 : periodOf(number, rewards) + 1
  return Array.from({ length: count }, (_, index) => {
    const before = index * halvingBlocks
    const toBlock = Math.min(before + halvingBlocks, number)
    // Cycles are counted from genesis, so a period need not contain a whole number of them.
    const cycles = Math.floor(toBlock / cycleBlocks) - Math.floor(before / cycleBlocks)
    const rewardWei = rewardOfPeriod(index, rewards)
    return { index, fromBlock: before + 1, toBlock, rewardWei, mintedWei: BigInt(cycles) * rewardWei }
  })
}

const sumOf = (periods: readonly MintedPeriod[]): bigint => periods.reduce((sum, { mintedWei }) => sum + mintedWei, 0n)

/** Total minted in blocks 1 .. number, wei. */
export const mintedUpTo = (number: number, rewards: RewardRules): bigint => sumOf(mintedPeriods(number, rewards))

/** Share of the miners in an amount of minted wei. */
export const minersPart = (wei: bigint, { minersPercent }: RewardRules): bigint => (wei * minersPercent) / 100n

/** Share of the union in an amount of minted wei. */
const unionPart = (wei: bigint, { unionPercent }: RewardRules): bigint => (wei * unionPercent) / 100n

const QUANTITY = /^0x[0-9a-f]{1,64}$/

interface SupplyAtHead {
  readonly number: number
  readonly supplyWei: bigint
  readonly burntWei: bigint
}

/** Wei there are at the head, as `native_getTotalSupply` tells it; nothing is burnt where a node does not serve that. */
export const currentSupply = async (context: ApiContext): Promise<SupplyAtHead> => {
  const { rewards } = tandemOf(context)
  const number = (await context.source.headNumber()) ?? 0
  const result = await askResult(context.node, 'native_getTotalSupply', ['latest'])
  const burnt = (result as { readonly totalBurnt?: unknown } | null | undefined)?.totalBurnt
  const burntWei = typeof burnt === 'string' && QUANTITY.test(burnt) ? BigInt(burnt) : 0n
  return { number, burntWei, supplyWei: rewards.genesisWei + mintedUpTo(number, rewards) - burntWei }
}

const amounts = (rewardWei: bigint, mintedWei: bigint) => ({
  rewardPerCycle: tokensFromWei(rewardWei),
  rewardPerCycleWei: rewardWei.toString(),
  totalMinted: tokensFromWei(mintedWei),
  totalMintedWei: mintedWei.toString(),
})

/** Body of /api/supply after a block; integers of wei until the last step. */
export const supplyBody = ({ number, supplyWei, burntWei }: SupplyAtHead, rewards: RewardRules) => {
  const { halvingBlocks, maxWei } = rewards
  const periods = mintedPeriods(number, rewards)
  const mintedWei = sumOf(periods)
  const [miners, union] = [minersPart(mintedWei, rewards), unionPart(mintedWei, rewards)]
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
      miners: share(miners, rewards.minersPercent),
      union: share(union, rewards.unionPercent),
      foundation: share(mintedWei - miners - union, rest),
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

export const nextHalving = (number: number, rewards: RewardRules): NextHalving => {
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
  rewards: RewardRules,
  rules: Pick<ChainRules, 'blockTimeMs'>,
): { readonly now: bigint; readonly halvingAware: bigint } => {
  const { blocksRemaining, currentWei, nextWei } = nextHalving(number, rewards)
  const blocks = Math.floor(SECONDS_PER_YEAR / secondsOf(1, rules))
  const cycles = BigInt(Math.floor(blocks / rewards.cycleBlocks))
  const before = BigInt(Math.floor(Math.min(blocks, blocksRemaining) / rewards.cycleBlocks))
  const part = (wei: bigint): bigint => unionPart(wei, rewards)
  return { now: cycles * part(currentWei), halvingAware: before * part(currentWei) + (cycles - before) * part(nextWei) }
}

/** Percent a year of a stake, two decimals; null without a stake. */
export const aprOf = (yearWei: bigint, stakeWei: bigint): number | null =>
  stakeWei <= 0n ? null : roundTo(Number((yearWei * 1_000_000n) / stakeWei) / 10_000, 2)
