import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { NETWORKS } from '../../../src/config/networks.ts'
import { cycleOf, endsCycle, firstOfCycle, lastOfCycle } from '../../../src/rules/council/cycle.ts'
import { assignFees, splitFees } from '../../../src/rules/money/fees.ts'
import {
  minerCredits,
  mintedAt,
  periodOf,
  rewardCredits,
  rewardOfPeriod,
  splitReward,
  unionShareAt,
} from '../../../src/rules/money/rewards.ts'
import { mintedPeriods, mintedUpTo, supplyAt, supplySchedule } from '../../../src/rules/money/supply.ts'

const { rewards, feeShares } = NETWORKS.mainnet
const TOKEN = 10n ** 18n
const address = (byte: string): Hex => `0x${byte.repeat(20)}`
const FOUNDATION = address('f0')
/** Tokens with one decimal, as wei. */
const tokens = (tenths: bigint): bigint => (tenths * TOKEN) / 10n

describe('cycles', () => {
  test('hold 60 blocks, the paying block last', () => {
    expect([0, 1, 60, 61, 120, 121].map(number => cycleOf(number, 60))).toEqual([0, 0, 0, 1, 1, 2])
    expect([firstOfCycle(1, 60), lastOfCycle(1, 60)]).toEqual([61, 120])
    expect([0, 59, 60, 61, 120].map(number => endsCycle(number, 60))).toEqual([false, false, true, false, true])
  })
})

describe('minting (reference figures of the public chain)', () => {
  test.each([
    [0, 0n],
    [59, 0n],
    [60, 2_000n * TOKEN],
    [61, 0n],
    [31_536_000, 2_000n * TOKEN],
    [31_536_060, tokens(14_744n)],
    [63_072_000, tokens(14_744n)],
    [63_072_060, (108_692_768n * TOKEN) / 100_000n],
  ])('block %i mints %s wei', (number, want) => {
    expect(mintedAt(number, rewards)).toBe(want)
  })

  test('the fourth period pays 801.283085696 and the last is the 161st', () => {
    expect(rewardOfPeriod(3, rewards)).toBe(801_283_085_696n * 10n ** 9n)
    expect(rewardOfPeriod(160, rewards)).toBeGreaterThan(0n)
    expect(rewardOfPeriod(161, rewards)).toBe(0n)
  })

  test('a period ends with the block that is its length', () => {
    expect([0, 1, 31_536_000, 31_536_001].map(number => periodOf(number, rewards))).toEqual([0, 0, 0, 1])
  })

  test.each([
    [0, 0n],
    [59, 0n],
    [60, 20_000n],
    [31_535_999, 10_511_980_000n],
    [31_536_000, 10_512_000_000n],
    [45_160_960, 13_860_097_008n],
    [63_072_000, 18_261_446_400n],
  ])('up to block %i: %s tenths of a token', (number, want) => {
    expect(mintedUpTo(number, rewards)).toBe(tokens(want))
  })

  test('up to block 94,608,000: 2,397,433,828.608 tokens', () => {
    expect(mintedUpTo(94_608_000, rewards)).toBe(2_397_433_828_608n * 10n ** 15n)
  })

  test('the periods of the sample at 45,160,960', () => {
    expect(mintedPeriods(45_160_960, rewards)).toEqual([
      {
        index: 0,
        fromBlock: 1,
        toBlock: 31_536_000,
        cycles: 525_600,
        rewardWei: 2_000n * TOKEN,
        mintedWei: 1_051_200_000n * TOKEN,
      },
      {
        index: 1,
        fromBlock: 31_536_001,
        toBlock: 45_160_960,
        cycles: 227_082,
        rewardWei: tokens(14_744n),
        mintedWei: tokens(3_348_097_008n),
      },
    ])
    const split = splitReward(mintedUpTo(45_160_960, rewards), rewards)
    expect(split.miners).toBe(55_440_388_032n * 10n ** 16n)
    expect(split.foundation).toBe(27_720_194_016n * 10n ** 16n)
  })

  test('the sum over all periods stays below four billion tokens', () => {
    const total = mintedUpTo(31_536_000 * 200, rewards)
    // Each period is floored once, from exact powers.
    expect(total).toBe(3_999_999_999_999_999_999_956_896_800n)
  })

  test('supply is genesis and minted less burnt', () => {
    expect(supplyAt(60, 5n * TOKEN, TOKEN, rewards)).toBe(2_004n * TOKEN)
  })
})

describe('credits of a cycle', () => {
  const credits = (number: number, proposers: readonly Hex[], coinbases: readonly Hex[]) =>
    rewardCredits(number, rewards, { proposers, coinbases, foundation: FOUNDATION })
  const one = Array<Hex>(60).fill(address('aa'))

  test('before the first proof header the foundation has 60 %, the proposers their sixtieths', () => {
    const two = one.map((proposer, index) => (index < 45 ? proposer : address('bb')))
    // A sixtieth of 800 tokens is 13,333,333,333,333,333,333 wei; the paying block has the 20 wei left over.
    expect(credits(60, two, [])).toEqual([
      { role: 'foundation', address: FOUNDATION, amountWei: 1_200n * TOKEN },
      { role: 'union', address: address('aa'), amountWei: 599_999_999_999_999_999_985n },
      {
        role: 'union',
        address: address('bb'),
        amountWei: 200_000_000_000_000_000_015n,
      },
    ])
  })

  test('the share of each block of a cycle, and the credits of its miners, are parts of what the last one pays', () => {
    const proposers = one.map((_, index) => address(index.toString(16).padStart(2, '0')))
    const coinbases = [address('cc'), address('cd'), address('cc')]
    const paid = credits(120, proposers, coinbases)
    const shares = proposers.map((proposer, index) => ({
      role: 'union',
      address: proposer,
      amountWei: unionShareAt(61 + index, rewards),
    }))
    expect(shares).toEqual(paid.filter(({ role }) => role === 'union'))
    expect(minerCredits(120, rewards, coinbases)).toEqual(paid.filter(({ role }) => role === 'miner'))
    expect(minerCredits(120, rewards, [])).toEqual([])
    expect(minerCredits(119, rewards, coinbases)).toEqual([])
    expect(unionShareAt(0, rewards)).toBe(0n)
  })

  test('one miner of all headers has 800 tokens, however many there are', () => {
    for (const count of [1, 7, 60])
      expect(credits(60, one, Array<Hex>(count).fill(address('cc')))).toEqual([
        { role: 'miner', address: address('cc'), amountWei: 800n * TOKEN },
        { role: 'union', address: address('aa'), amountWei: 800n * TOKEN },
        { role: 'foundation', address: FOUNDATION, amountWei: 400n * TOKEN },
      ])
  })

  test('headers have equal parts, the newest the remainder', () => {
    // 589.76 tokens of the second period among 60 headers: 20 wei are left over.
    const coinbases = Array.from({ length: 60 }, (_, index) => address(index === 59 ? 'dd' : 'cc'))
    const paid = credits(31_536_060, one, coinbases)
    const part = (58_976n * 10n ** 16n) / 60n
    expect(paid.find(credit => credit.address === address('cc'))?.amountWei).toBe(part * 59n)
    expect(paid.find(credit => credit.address === address('dd'))?.amountWei).toBe(part + 20n)
  })

  test('a block inside a cycle makes no credits', () => {
    expect(credits(61, [], [])).toEqual([])
  })
})

describe('fees', () => {
  test('the sample of the public chain: 7,055,125,000,000,000 wei', () => {
    expect(splitFees(7_055_125_000_000_000n, feeShares)).toEqual({
      burnt: 3_527_562_500_000_000n,
      proposer: 1_411_025_000_000_000n,
      miner: 1_411_025_000_000_000n,
      foundation: 705_512_500_000_000n,
    })
  })

  test('what the floors leave over is burnt', () => {
    expect(splitFees(9n, feeShares)).toEqual({ proposer: 1n, miner: 1n, foundation: 0n, burnt: 7n })
  })

  test('without a miner the foundation has its share', () => {
    expect(assignFees(1_000n, feeShares, ZERO_ADDRESS)).toEqual({
      proposer: 200n,
      miner: 0n,
      foundation: 300n,
      burnt: 500n,
    })
    expect(assignFees(1_000n, feeShares, address('cc'))).toEqual({
      proposer: 200n,
      miner: 200n,
      foundation: 100n,
      burnt: 500n,
    })
  })
})

describe('the schedule of the supply', () => {
  test('ends with the last period that mints', () => {
    const { genesisWei, maxWei, periods } = supplySchedule(5n, rewards, 256)
    expect([genesisWei, periods.length, periods.at(-1)?.toBlock]).toEqual([5n, 161, 161 * 31_536_000])
    expect(maxWei).toBe(5n + mintedUpTo(periods.at(-1)?.toBlock ?? 0, rewards))
  })
  test('has no maximum where its periods go on beyond the limit', () => {
    const { maxWei, periods } = supplySchedule(5n, { ...rewards, halvingNumerator: 10_000n }, 3)
    expect([maxWei, periods.length]).toEqual([undefined, 3])
  })
})
