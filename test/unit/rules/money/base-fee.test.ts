import { describe, expect, test } from 'vitest'
import { NETWORKS } from '../../../../src/config/networks.ts'
import { baseFeeGasCap, nextBaseFee, suggestedGasPrice } from '../../../../src/rules/money/base-fee.ts'

const params = NETWORKS.mainnet.baseFee
const GWEI = 10n ** 9n
const childOf = (baseFeePerGas: bigint | undefined, gasUsed: bigint, number = 5): bigint =>
  nextBaseFee({ number, gasLimit: 0n, gasUsed, ...(baseFeePerGas !== undefined && { baseFeePerGas }) }, params)

describe('KIP-71', () => {
  test.each([
    ['at the target nothing moves', 100n * GWEI, 30_000_000n, 100n * GWEI],
    ['at the cap it rises by 1/20', 100n * GWEI, 60_000_000n, 105n * GWEI],
    ['gas beyond the cap does not count', 100n * GWEI, 999_000_000n, 105n * GWEI],
    ['half way it rises by half of that', 100n * GWEI, 45_000_000n, 102_500_000_000n],
    ['an empty block lowers it by 1/20', 100n * GWEI, 0n, 95n * GWEI],
    ['half the target lowers it by half of that', 100n * GWEI, 15_000_000n, 97_500_000_000n],
    ['it stays on the floor', 25n * GWEI, 0n, 25n * GWEI],
    ['it stays at the ceiling', 750n * GWEI, 60_000_000n, 750n * GWEI],
    ['it rises to the ceiling, not above', 740n * GWEI, 60_000_000n, 750n * GWEI],
    // floor(floor(25e9 * 1 / 30e6) / 20) = floor(833 / 20) = 41, and 25,000,000,041 is odd.
    ['an odd result is lowered by one', 25n * GWEI, 30_000_001n, 25_000_000_040n],
    // A base fee from other bounds is brought inside first.
    ['below the floor it counts as the floor', 1n, 30_000_000n, 25n * GWEI],
    ['above the ceiling it counts as the ceiling', 900n * GWEI, 0n, 712_500_000_000n],
  ])('%s', (_, base, gasUsed, want) => {
    expect(childOf(base, gasUsed)).toBe(want)
  })

  test('the child of genesis, and of a block without base fee, starts at the floor', () => {
    expect(childOf(100n * GWEI, 60_000_000n, 0)).toBe(25n * GWEI)
    expect(childOf(undefined, 60_000_000n)).toBe(25n * GWEI)
  })

  test('above the target it rises by at least one wei, which evenness may take back', () => {
    const tiny = { ...params, lowerBoundWei: 2n, upperBoundWei: 100n }
    expect(nextBaseFee({ number: 5, gasLimit: 0n, gasUsed: 30_000_001n, baseFeePerGas: 10n }, tiny)).toBe(10n)
    expect(nextBaseFee({ number: 5, gasLimit: 0n, gasUsed: 30_000_001n, baseFeePerGas: 11n }, tiny)).toBe(12n)
  })

  test('odd bounds are made even inwards', () => {
    const odd = { ...params, lowerBoundWei: 25n, upperBoundWei: 751n }
    expect(nextBaseFee({ number: 0, gasLimit: 0n, gasUsed: 0n }, odd)).toBe(26n)
    expect(nextBaseFee({ number: 5, gasLimit: 0n, gasUsed: 60_000_000n, baseFeePerGas: 750n }, odd)).toBe(750n)
  })
})

describe('EIP-1559', () => {
  const ethereum = { ...params, rule: 'eip1559' as const }
  const after = (baseFeePerGas: bigint, gasUsed: bigint): bigint =>
    nextBaseFee({ number: 5, gasLimit: 60_000_000n, gasUsed, baseFeePerGas }, ethereum)

  test.each([
    ['at half the limit nothing moves', 1_001n, 30_000_000n, 1_001n],
    ['a full block raises it by 1/8', 800n, 60_000_000n, 900n],
    ['an empty block lowers it by 1/8', 800n, 0n, 700n],
    ['above the target it rises by at least one wei', 1n, 30_000_001n, 2n],
    ['it may fall to where no step is left', 7n, 0n, 7n],
  ])('%s', (_, base, gasUsed, want) => {
    expect(after(base, gasUsed)).toBe(want)
  })

  test('the first block under it has the initial fee', () => {
    expect(nextBaseFee({ number: 5, gasLimit: 1n, gasUsed: 1n }, ethereum)).toBe(1_000_000_000n)
  })

  test('a block is full at its gas limit, under KIP-71 at the bound of the network', () => {
    expect(baseFeeGasCap({ gasLimit: 7n }, ethereum)).toBe(7n)
    expect(baseFeeGasCap({ gasLimit: 7n }, params)).toBe(60_000_000n)
  })
})

test('the suggested price is 10 % above the base fee, never above the ceiling', () => {
  expect(suggestedGasPrice(25n * GWEI, params)).toBe(27_500_000_000n)
  expect(suggestedGasPrice(100n * GWEI, params)).toBe(110n * GWEI)
  expect(suggestedGasPrice(700n * GWEI, params)).toBe(750n * GWEI)
  expect(suggestedGasPrice(750n * GWEI, params)).toBe(750n * GWEI)
})
