import { describe, expect, test } from 'vitest'
import { BUILD_LIMITS } from '../../../../src/config/limits/execution.ts'
import { AdaptiveBuildBudget } from '../../../../src/consensus/timing/build-budget.ts'

const { buildMs, leastBuildMs } = BUILD_LIMITS
const TIMEOUT_MS = 2_000

const budgetAfter = (...elapsedMs: readonly number[]): number => {
  const budget = new AdaptiveBuildBudget(TIMEOUT_MS)
  for (const ms of elapsedMs) budget.decided(ms)
  return budget.ms
}

describe('what a block may take to build', () => {
  test('is the whole as long as decisions are quick', () => {
    expect(budgetAfter()).toBe(buildMs)
    expect(budgetAfter(10, 800, 1_500)).toBe(buildMs)
  })

  test('halves with each decision that took most of a round, down to the least', () => {
    expect(budgetAfter(1_501)).toBe(buildMs / 2)
    expect(budgetAfter(1_800, 5_000)).toBe(buildMs / 4)
    expect(budgetAfter(...Array.from({ length: 20 }, () => 1_800))).toBe(leastBuildMs)
  })

  test('halves with each round given up over a proposal', () => {
    const budget = new AdaptiveBuildBudget(TIMEOUT_MS)
    budget.missed()
    budget.missed()
    expect(budget.ms).toBe(buildMs / 4)
    for (let round = 0; round < 20; round++) budget.missed()
    expect(budget.ms).toBe(leastBuildMs)
  })

  test('comes back by tenths of the whole, and rests in between', () => {
    expect(budgetAfter(1_800, 999)).toBe(buildMs / 2 + buildMs / 10)
    expect(budgetAfter(1_800, 1_000, 1_500)).toBe(buildMs / 2)
    expect(budgetAfter(1_800, ...Array.from({ length: 10 }, () => 100))).toBe(buildMs)
  })

  test("one transaction has three twentieths of the base round's timeout, and shrinks with the rest", () => {
    const budget = new AdaptiveBuildBudget(4_000)
    expect([budget.ms, budget.transactionMs]).toEqual([buildMs, 600])
    expect(budget.gasShare).toBe(1)
    budget.missed()
    expect([budget.ms, budget.transactionMs]).toEqual([buildMs / 2, 300])
    // Its root and its rows take time as well, which only gas bounds.
    expect(budget.gasShare).toBe(0.5)
    for (let round = 0; round < 20; round++) budget.missed()
    expect(budget.transactionMs).toBe((600 * leastBuildMs) / buildMs)
  })

  test('a block takes no more of short rounds either', () => {
    const budget = new AdaptiveBuildBudget(100)
    expect([budget.ms, budget.transactionMs]).toEqual([15, 15])
    expect(new AdaptiveBuildBudget(1).ms).toBe(leastBuildMs)
  })

  test('settles where a committee that takes nine times as long keeps within its round', () => {
    const budget = new AdaptiveBuildBudget(TIMEOUT_MS)
    const took = Array.from({ length: 100 }, () => {
      const elapsedMs = 9 * budget.ms + 50
      budget.decided(elapsedMs)
      return elapsedMs
    })
    expect(took.slice(10).filter(ms => ms > TIMEOUT_MS)).toEqual([])
    expect(Math.min(...took.slice(10))).toBeGreaterThan(TIMEOUT_MS / 3)
  })
})
