import { formatUnits, percentOf, tokensFromWei } from '@tandem/explorer/api/format.ts'
import { aprOf, nextHalving, supplyBody, unionYearWei } from '@tandem/explorer/api/routes/economy.ts'
import type { RewardRules } from '@tandem/explorer/chain/rules.ts'
import { describe, expect, test } from 'vitest'
import { NETWORKS, type RewardParams } from '../../../src/config/networks.ts'
import { supplySchedule } from '../../../src/rules/money/supply.ts'

/** Rules of rewards as the node tells them. */
const rulesOf = (params: RewardParams, genesisWei: bigint): RewardRules => {
  const { maxWei = 0n, periods } = supplySchedule(genesisWei, params, 256)
  return { ...params, genesisWei, maxWei, cycleWei: periods.map(({ rewardWei }) => rewardWei) }
}

const { blockTimeMs } = NETWORKS.mainnet
/** Tokens that were there before the chain. */
const genesisWei = 1_500_000_000n * 10n ** 18n
const rewards = rulesOf(NETWORKS.mainnet.rewards, genesisWei)
const at = (number: number) =>
  supplyBody({ number, supplyWei: genesisWei + 7n, burntWei: 3n }, rewards) as Record<string, unknown>

describe('supply', () => {
  test('at a height of the second period, to the last digit', () => {
    expect(at(45_160_960)).toMatchObject({
      totalSupply: 5_500_000_000,
      totalMinted: 1_386_009_700.8,
      totalMintedWei: '1386009700800000000000000000',
      mintedPercent: 25.2,
      halvingBlock: 31_536_000,
      breakdown: {
        miners: { share: 0.4, total: 554_403_880.32 },
        union: { share: 0.4, total: 554_403_880.32 },
        foundation: { share: 0.2, total: 277_201_940.16 },
      },
      preHalving: { blocks: 31_536_000, rewardPerCycle: 2_000, totalMinted: 1_051_200_000 },
      postHalving: { blocks: 13_624_960, rewardPerCycle: 1_474.4, totalMinted: 334_809_700.8 },
    })
  })

  test.each([
    [0, 0],
    [59, 0],
    [60, 2_000],
    [31_535_999, 1_051_198_000],
    [31_536_000, 1_051_200_000],
    [63_072_000, 1_826_144_640],
    [94_608_000, 2_397_433_828.608],
  ])('at %i it has minted %d', (number, minted) => {
    expect(at(number)).toMatchObject({ totalMinted: minted })
  })

  test('the maximum follows from the genesis and the rewards', () => {
    const { totalSupplyWei, currentSupplyWei, totalBurntWei } = at(60)
    // A few wei below four billion: each period's reward is a whole number of wei.
    expect(5_500_000_000n * 10n ** 18n - BigInt(totalSupplyWei as string)).toBeLessThan(10n ** 9n)
    expect([currentSupplyWei, totalBurntWei]).toEqual([(genesisWei + 7n).toString(), '3'])
    const halving = { cycleRewardWei: 100n, halvingNumerator: 1n, halvingDenominator: 2n, halvingBlocks: 60 }
    const small = rulesOf({ ...NETWORKS.mainnet.rewards, ...halving }, 3n)
    // 100, 50, 25, 12, 6, 3 and 1.
    expect(supplyBody({ number: 60, supplyWei: 0n, burntWei: 0n }, small)).toMatchObject({
      ...{ totalSupplyWei: '200', totalMintedWei: '100', mintedPercent: 50 },
    })
  })

  test('before the first cut nothing came after it', () => {
    const before = { preHalving: { blocks: 60 }, postHalving: { blocks: 0, rewardPerCycle: 1_474.4, totalMinted: 0 } }
    expect(at(60)).toMatchObject(before)
    expect(at(31_536_000)).toMatchObject({ postHalving: { blocks: 0, rewardPerCycle: 1_474.4 } })
  })
})

describe('yield', () => {
  test('of a seat among twenty-nine, at one reward and with the cut that comes', () => {
    const year = unionYearWei(45_160_854, rewards, { blockTimeMs })
    expect(Math.round(tokensFromWei(year.now / 29n))).toBe(10_688_892)
    expect(aprOf(year.now / 29n, 35_000_000n * 10n ** 18n)).toBe(30.54)
    expect(aprOf(year.halvingAware / 29n, 35_000_000n * 10n ** 18n)).toBe(27.07)
    expect(aprOf(1n, 0n)).toBeNull()
  })

  test('the next cut is the end of the period', () => {
    expect(nextHalving(31_536_000, rewards)).toMatchObject({ nextBlock: 31_536_000, blocksRemaining: 0 })
    expect(nextHalving(31_536_001, rewards)).toMatchObject({ nextBlock: 63_072_000, blocksRemaining: 31_535_999 })
  })
})

test('amounts are written by decimals, not by floats', () => {
  expect(formatUnits(27_500_000_000n, 9)).toBe('27.5')
  expect(formatUnits(1n, 18)).toBe('0.000000000000000001')
  expect(formatUnits(-15n, 1)).toBe('-1.5')
  expect(formatUnits(0n, 18)).toBe('0')
  expect(percentOf(1n, 3n)).toBe(33.33)
  expect(percentOf(1n, 0n)).toBe(0)
})
