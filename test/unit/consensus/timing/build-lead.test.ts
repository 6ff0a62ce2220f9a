import { expect, test } from 'vitest'
import { BUILD_LIMITS } from '../../../../src/config/limits/execution.ts'
import { BuildLead } from '../../../../src/consensus/timing/build-budget.ts'

const after = (...took: readonly number[]): number => {
  const buildLead = new BuildLead()
  for (const ms of took) buildLead.took(ms)
  return buildLead.ms
}

test('is what all but the slowest of the last took', () => {
  expect(after()).toBe(0)
  expect(after(40)).toBe(0)
  expect(after(40, 30.2)).toBe(31)
  expect(after(5, 5, 140, 20, 5, 5, 5, 5)).toBe(20)
  expect(after(90, 80, ...Array.from({ length: 6 }, () => 5))).toBe(80)
  expect(after(90, 80, ...Array.from({ length: 7 }, () => 5))).toBe(5)
})

test('has a limit', () => {
  expect(after(1_000, 2_000)).toBe(BUILD_LIMITS.headStartMs)
})
