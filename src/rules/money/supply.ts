import type { RewardParams } from '../../config/networks.ts'
import { periodOf, rewardOfPeriod } from './rewards.ts'

/** Blocks of one reward period up to a height, and their minting. */
interface MintedPeriod {
  readonly index: number
  readonly fromBlock: number
  /** The period's last block, or the requested height. */
  readonly toBlock: number
  readonly cycles: number
  readonly rewardWei: bigint
  readonly mintedWei: bigint
}

/** Periods that have begun up to a height, from the closed form of docs/design/money.md#halving. */
export const mintedPeriods = (number: number, params: RewardParams): readonly MintedPeriod[] => {
  if (number === 0) return []
  const periods: MintedPeriod[] = []
  for (let index = 0; index <= periodOf(number, params); index++) {
    const before = index * params.halvingBlocks
    const toBlock = Math.min(before + params.halvingBlocks, number)
    // Cycles are counted from genesis, so a period need not contain a whole number of them.
    const cycles = Math.floor(toBlock / params.cycleBlocks) - Math.floor(before / params.cycleBlocks)
    const rewardWei = rewardOfPeriod(index, params)
    periods.push({ index, fromBlock: before + 1, toBlock, cycles, rewardWei, mintedWei: BigInt(cycles) * rewardWei })
  }
  return periods
}

/** Total minted in blocks 1 .. number, wei. */
export const mintedUpTo = (number: number, params: RewardParams): bigint =>
  mintedPeriods(number, params).reduce((sum, period) => sum + period.mintedWei, 0n)

/** Sum of all balances after a block, wei: an invariant of every block (docs/design/money.md#supply). */
export const supplyAt = (number: number, genesisWei: bigint, burntWei: bigint, params: RewardParams): bigint =>
  genesisWei + mintedUpTo(number, params) - burntWei

/** Periods of the reward from the first one on. */
export interface SupplySchedule {
  readonly genesisWei: bigint
  /** Most wei there can ever be; undefined when the reward does not fall to 0 within the listed periods. */
  readonly maxWei: bigint | undefined
  readonly periods: readonly MintedPeriod[]
}

/** Whole periods of the reward until it is 0, at most `limit` of them. */
export const supplySchedule = (genesisWei: bigint, params: RewardParams, limit: number): SupplySchedule => {
  let count = 0
  while (count < limit && rewardOfPeriod(count, params) > 0n) count++
  const periods = mintedPeriods(count * params.halvingBlocks, params)
  const isEnded = rewardOfPeriod(count, params) === 0n
  const maxWei = isEnded ? periods.reduce((sum, { mintedWei }) => sum + mintedWei, genesisWei) : undefined
  return { genesisWei, maxWei, periods }
}
