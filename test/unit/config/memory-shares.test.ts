import { expect, test } from 'vitest'
import { MEMORY_LIMITS, memoryShares } from '../../../src/config/limits/storage.ts'

const MIB = 1024 * 1024
const { leastMib, mib, mostMib, programMib } = MEMORY_LIMITS

test('the shares are what the program leaves, from the least budget to a large one', () => {
  for (const budget of [leastMib, 256, mib, 1_024, 4_096]) {
    const shares = Object.values(memoryShares(budget))
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo((budget - programMib) * MIB)
    for (const share of shares) expect(share).toBeGreaterThan(MIB)
  }
  expect(memoryShares(mib)).toEqual({
    database: 16 * MIB,
    trie: 64 * MIB,
    state: 64 * MIB,
    blocks: 24 * MIB,
    logs: 8 * MIB,
  })
})

test('the trie stays within 32-bit addresses', () => {
  expect(memoryShares(mostMib).trie).toBe(2_048 * MIB)
})
