import { type Hex, toWord, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { createRandom, type Random } from '@tandem/base/random.ts'
import { describe, expect, test } from 'vitest'
import { NETWORKS } from '../../../../src/config/networks.ts'
import { mintedAt, rewardCredits } from '../../../../src/rules/money/rewards.ts'
import {
  extendProofState,
  firstProofState,
  nextProofTarget,
  type ProofState,
} from '../../../../src/rules/proof/proof-header.ts'
import { SEED } from '../../../support/seed.ts'

/** Cycles of a simulation, and simulations; `MINING_RUNS=20` for the long run. */
const CYCLES = 10_000
const RUNS = Number(process.env['MINING_RUNS'] ?? 1)
/** Cycles in which few headers share a lot. */
const WARM_UP = 200

/** Difference of incomes per hash that is allowed, and what chance adds to it in so many headers: three and a half standard deviations. */
const toleranceOf = (share: number): number => 0.03 + 3.5 * Math.sqrt((1 / share + 1 / (1 - share)) / (CYCLES * RUNS))

const MINER: Hex = `0x${'aa'.repeat(20)}`
const OTHERS: Hex = `0x${'bb'.repeat(20)}`
const params = NETWORKS.mainnet
const { rewards } = params
/** Hash rate of all: half of the easiest target finds a header in the wanted time. */
const RATE = 2 / params.proofChain.spacingBlocks

interface View {
  readonly state: ProofState
  readonly number: number
  /** Headers of the cycle so far, and those of the miner. */
  readonly inCycle: number
  readonly own: number
}

/** Conditions under which a miner searches. */
const STRATEGIES = {
  always: () => true,
  'while another is the beneficiary': ({ state }) => state.coinbase !== MINER,
  'while its cycle has no header': ({ inCycle }) => inCycle === 0,
  'while it has no header in the cycle': ({ own }) => own === 0,
  'unless it would be paid alone': ({ state, inCycle }) => state.coinbase !== MINER || inCycle > 0,
  'in the first half of a cycle': ({ number }) => number % rewards.cycleBlocks < rewards.cycleBlocks / 2,
  'in every other cycle': ({ number }) => Math.floor(number / rewards.cycleBlocks) % 2 === 0,
} as const satisfies Readonly<Record<string, (view: View) => boolean>>

interface Sums {
  readonly income: Map<Hex, bigint>
  miner: number
  others: number
}

/** Adds the incomes and the work of a miner and of the others, who always search. */
const simulate = (searches: (view: View) => boolean, share: number, random: Random, sums: Sums): void => {
  let state = firstProofState(params)
  let [inCycle, own] = [0, 0]
  for (let number = 1; number <= (WARM_UP + CYCLES) * rewards.cycleBlocks; number++) {
    const isCounted = number > WARM_UP * rewards.cycleBlocks
    const target = nextProofTarget(params, state, number)
    const ease = Number((target * 1_000_000n) / params.proofChain.maxTargetBefore) / 1_000_000
    const isSearching = searches({ state, number: number - 1, inCycle, own })
    if (isSearching && isCounted) sums.miner += share
    if (isCounted) sums.others += 1 - share
    const found = (isSearching ? share : 0) + 1 - share
    if (random.chance(found * RATE * ease)) {
      const coinbase = isSearching && random.chance(share) ? MINER : OTHERS
      const height = state.tipHeight + 1
      const header = { height, anchorNumber: number, target, coinbase } as Parameters<typeof extendProofState>[2]
      state = extendProofState(params, state, header, toWord(BigInt(height)))
      inCycle++
      if (coinbase === MINER) own++
    }
    if (number % rewards.cycleBlocks !== 0) continue
    if (isCounted) pay(number, state, sums)
    ;[inCycle, own] = [0, 0]
  }
}

const PROPOSERS = Array<Hex>(rewards.cycleBlocks).fill(ZERO_ADDRESS)

const pay = (number: number, { coinbases }: ProofState, { income }: Sums): void => {
  const credits = rewardCredits(number, rewards, { proposers: PROPOSERS, coinbases, foundation: ZERO_ADDRESS })
  const mined = credits.filter(({ role }) => role === 'miner')
  expect(mined.reduce((sum, { amountWei }) => sum + amountWei, 0n)).toBe((mintedAt(number, rewards) * 40n) / 100n)
  for (const { address, amountWei } of mined) income.set(address, (income.get(address) ?? 0n) + amountWei)
}

/** Returns the income per hash of a miner in relation to that of the others. */
const relativeIncome = (searches: (view: View) => boolean, share: number): number => {
  const sums: Sums = { income: new Map(), miner: 0, others: 0 }
  for (let run = 0; run < RUNS; run++)
    simulate(searches, share, createRandom(SEED * 31 + Math.round(share * 100) + run * 1_009), sums)
  const perHash = (who: Hex, hashes: number) => Number((sums.income.get(who) ?? 0n) / 10n ** 18n) / hashes
  return perHash(MINER, sums.miner) / perHash(OTHERS, sums.others)
}

describe('a hash earns the same whatever the strategy of its miner', () => {
  test.each(Object.keys(STRATEGIES) as readonly (keyof typeof STRATEGIES)[])(
    '%s',
    name => {
      for (const share of [0.2, 0.5, 0.7]) {
        const relative = relativeIncome(STRATEGIES[name], share)
        console.log(JSON.stringify({ name, share, runs: RUNS, relative: relative.toFixed(3) }))
        expect(Math.abs(relative - 1), `SEED=${SEED}, share ${share}`).toBeLessThan(toleranceOf(share))
      }
    },
    120_000 * RUNS,
  )
})
