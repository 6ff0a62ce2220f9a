import { type Hex, toQuantity, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NETWORKS } from '../../src/config/networks.ts'
import { nextBaseFee, suggestedGasPrice } from '../../src/rules/money/base-fee.ts'
import { splitFees } from '../../src/rules/money/fees.ts'
import { mintedAt, rewardCredits } from '../../src/rules/money/rewards.ts'
import { mintedUpTo } from '../../src/rules/money/supply.ts'

const seed = Number(process.env['SEED'] ?? 20_250_217)
const { baseFee, rewards, feeShares } = NETWORKS.mainnet
const address = (n: number): Hex => (n === 0 ? ZERO_ADDRESS : `0x${n.toString(16).padStart(40, '0')}`)
const FOUNDATION = address(0xf0)

test('a base fee is even, inside the bounds, and moves by at most 5 %', () => {
  const base = fc.bigInt({ min: baseFee.lowerBoundWei / 2n, max: baseFee.upperBoundWei / 2n }).map(half => half * 2n)
  fc.assert(
    fc.property(base, fc.bigInt({ min: 0n, max: 120_000_000n }), (before, gasUsed) => {
      const after = nextBaseFee({ number: 9, gasLimit: 0n, gasUsed, baseFeePerGas: before }, baseFee)
      expect(after & 1n).toBe(0n)
      expect(after >= baseFee.lowerBoundWei && after <= baseFee.upperBoundWei).toBe(true)
      const clamped = before < baseFee.lowerBoundWei ? baseFee.lowerBoundWei : before
      const moved = after > clamped ? after - clamped : clamped - after
      // Evenness may take one wei more on the way down.
      expect(moved <= clamped / 20n + 1n).toBe(true)
      if (gasUsed > baseFee.gasTarget) expect(after >= clamped).toBe(true)
      if (gasUsed < baseFee.gasTarget) expect(after <= clamped).toBe(true)
      const price = suggestedGasPrice(after, baseFee)
      expect(price >= after && price <= baseFee.upperBoundWei).toBe(true)
    }),
    { seed, numRuns: 5_000 },
  )
})

/** KIP-71 from the sentences of its specification, with a fraction kept as one until the end of each division. */
const kip71 = (base: bigint, gasUsed: bigint, params: typeof baseFee): bigint => {
  const floor = params.lowerBoundWei % 2n === 0n ? params.lowerBoundWei : params.lowerBoundWei + 1n
  const ceiling = (params.upperBoundWei / 2n) * 2n
  const start = base < floor ? floor : base > ceiling ? ceiling : base
  const counted = gasUsed > params.maxBlockGasUsed ? params.maxBlockGasUsed : gasUsed
  const share = (gas: bigint): bigint => (start * gas) / params.gasTarget / params.denominator
  let next = start
  if (counted < params.gasTarget) next = start - share(params.gasTarget - counted)
  if (counted > params.gasTarget) {
    const rise = share(counted - params.gasTarget)
    next = start + (rise === 0n ? 1n : rise)
  }
  if (next < floor) next = floor
  if (next > ceiling) next = ceiling
  return (next / 2n) * 2n
}

test('the base fee is that of KIP-71, with any bounds', () => {
  const params = fc
    .record({
      lowerBoundWei: fc.oneof(fc.bigInt({ min: 0n, max: 60n }), fc.bigInt({ min: 1n, max: 10n ** 12n })),
      width: fc.oneof(fc.bigInt({ min: 1n, max: 9n }), fc.bigInt({ min: 1n, max: 10n ** 12n })),
      gasTarget: fc.bigInt({ min: 1n, max: 10n ** 8n }),
      more: fc.bigInt({ min: 0n, max: 10n ** 8n }),
      denominator: fc.bigInt({ min: 1n, max: 64n }),
    })
    .map(({ width, more, ...rest }) => ({
      ...baseFee,
      ...rest,
      upperBoundWei: rest.lowerBoundWei + width + 1n,
      maxBlockGasUsed: rest.gasTarget + more,
    }))
  const spread = fc.bigInt({ min: -100n, max: 100n })
  fc.assert(
    fc.property(params, fc.constantFrom('lower', 'upper', 'any'), fc.nat(2), spread, (chosen, near, gas, off) => {
      const middle = (chosen.lowerBoundWei + chosen.upperBoundWei) / 2n
      const about = { lower: chosen.lowerBoundWei, upper: chosen.upperBoundWei, any: middle + off * 10n ** 9n }[near]
      const base = about + off > 0n ? about + off : 0n
      const used = [chosen.gasTarget, chosen.maxBlockGasUsed, 0n][gas] as bigint
      const gasUsed = used + off > 0n ? used + off : 0n
      const parent = { number: 9, gasLimit: 0n, gasUsed, baseFeePerGas: base }
      expect(nextBaseFee(parent, chosen)).toBe(kip71(base, gasUsed, chosen))
    }),
    { seed, numRuns: 5_000 },
  )
  const any = fc.bigInt({ min: 0n, max: 10n ** 12n })
  fc.assert(
    fc.property(any, fc.bigInt({ min: 0n, max: 120_000_000n }), (base, gasUsed) => {
      const parent = { number: 9, gasLimit: 0n, gasUsed, baseFeePerGas: base }
      expect(nextBaseFee(parent, baseFee)).toBe(kip71(base, gasUsed, baseFee))
    }),
    { seed, numRuns: 5_000 },
  )
})

test('more gas never lowers the next base fee', () => {
  const gas = fc.bigInt({ min: 0n, max: 70_000_000n })
  fc.assert(
    fc.property(fc.bigInt({ min: 25n * 10n ** 9n, max: 750n * 10n ** 9n }), gas, gas, (base, a, b) => {
      const [low, high] = a < b ? [a, b] : [b, a]
      const after = (gasUsed: bigint) => nextBaseFee({ number: 9, gasLimit: 0n, gasUsed, baseFeePerGas: base }, baseFee)
      expect(after(high) >= after(low)).toBe(true)
    }),
    { seed, numRuns: 2_000 },
  )
})

test('no wei of a fee is lost, and at least half is burnt', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 200n }), fees => {
      const split = splitFees(fees, feeShares)
      expect(split.proposer + split.miner + split.foundation + split.burnt).toBe(fees)
      expect(split.burnt * 2n >= fees).toBe(true)
    }),
    { seed, numRuns: 1_000 },
  )
})

test('the credits of a cycle are exactly its minting, whoever proposed and mined', () => {
  const recipients = (most: number, lengths: fc.ArrayConstraints) =>
    fc.array(fc.integer({ min: 1, max: most }).map(address), lengths)
  const proposers = recipients(7, { minLength: 60, maxLength: 60 })
  const coinbases = recipients(5, { maxLength: 60 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 90_000_000 }), proposers, coinbases, (cycle, made, mined) => {
      const number = cycle * 60
      const credits = rewardCredits(number, rewards, { proposers: made, coinbases: mined, foundation: FOUNDATION })
      expect(credits.reduce((sum, credit) => sum + credit.amountWei, 0n)).toBe(mintedAt(number, rewards))
      expect(credits.every(credit => credit.amountWei > 0n && credit.address !== ZERO_ADDRESS)).toBe(true)
      const keys = credits.map(credit => credit.role + credit.address)
      expect(new Set(keys).size).toBe(keys.length)
    }),
    { seed, numRuns: 500 },
  )
})

test('the closed form of the supply is the sum of the blocks', () => {
  // Short cycles and periods that do not divide each other, so that every border is met.
  const params = fc.record({
    cycleBlocks: fc.integer({ min: 1, max: 7 }),
    halvingBlocks: fc.integer({ min: 1, max: 40 }),
    cycleRewardWei: fc.bigInt({ min: 1n, max: 10n ** 21n }),
  })
  fc.assert(
    fc.property(params, fc.nat(200), (change, height) => {
      const short = { ...rewards, ...change }
      let sum = 0n
      for (let number = 0; number <= height; number++) sum += mintedAt(number, short)
      expect(toQuantity(mintedUpTo(height, short))).toBe(toQuantity(sum))
    }),
    { seed, numRuns: 300 },
  )
})
