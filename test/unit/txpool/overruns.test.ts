import type { Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { POOL_LIMITS } from '../../../src/config/limits/pool.ts'
import type { TxPool } from '../../../src/txpool/pool.ts'
import { address, createPool, FLOOR, GWEI, transaction } from './fixtures.ts'

const [ALICE, BOB, CAROL] = [1, 2, 3].map(address) as [Hex, Hex, Hex]
const heavy = (from: Hex, gwei = 30n, nonce = 0) =>
  transaction({ from, nonce, gasLimit: 3_000_000n, maxFeePerGas: gwei * GWEI })
const waitMs = (neededMs: number) => neededMs * POOL_LIMITS.overrunWait
const longestWaiting = (pool: TxPool) => pool.selectForBlock(FLOOR).longestWaiting

test('after an overrun a sender needs twice the time, until it has waited in proportion to it', () => {
  const { pool } = createPool()
  pool.overran(heavy(ALICE), 40, 0)
  // Whatever it sends: a replacement, or another nonce.
  expect(pool.neededMs(heavy(ALICE, 90n), 0)).toBe(80)
  expect(pool.neededMs(heavy(ALICE, 30n, 1), waitMs(80) - 1)).toBe(80)
  expect(pool.neededMs(heavy(ALICE), waitMs(80))).toBe(0)
  expect(pool.neededMs(heavy(BOB), 0)).toBe(0)
  // A machine so slow that it never gives the time in full: the need grows all the same.
  pool.overran(heavy(ALICE), 10, 1_000)
  expect(pool.neededMs(heavy(ALICE), 1_000)).toBe(160)
  // No wait is longer than the limit, and none is forgotten before.
  pool.overran(heavy(ALICE), 10_000, 2_000)
  expect(pool.neededMs(heavy(ALICE), 1_999 + POOL_LIMITS.overrunWaitMs)).toBe(20_000)
  expect(pool.neededMs(heavy(ALICE), 2_000 + POOL_LIMITS.overrunWaitMs)).toBe(0)
})

test('light transactions of a sender wait for no overrun, and make none', () => {
  const { pool } = createPool()
  const light = transaction({ from: ALICE, nonce: 0, gasLimit: 2_000_000n })
  pool.overran(light, 100, 0)
  expect(pool.neededMs(heavy(ALICE), 0)).toBe(0)
  pool.overran(heavy(ALICE), 100, 0)
  expect(pool.neededMs(light, 0)).toBe(0)
})

test('the oldest of those that the last build passed over waits longest, while it is the next of its sender', () => {
  const { pool, accounts } = createPool()
  const [first, second, third] = [heavy(ALICE), heavy(BOB, 90n), heavy(CAROL, 60n)] as const
  for (const tx of [first, second, third]) pool.admit(tx, 'remote')
  expect(longestWaiting(pool)).toBeUndefined()
  for (const tx of [second, third]) pool.passedOver(tx, 0)
  // A read meanwhile is no build.
  pool.select()
  expect(longestWaiting(pool)).toBe(second.hash)
  // Not reached by that build, at their price or because of their gas: others wait.
  pool.passedOver(third, 0)
  expect(longestWaiting(pool)).toBe(third.hash)
  for (const tx of [first, third]) pool.passedOver(tx, 0)
  accounts.nonces.set(ALICE, 1)
  pool.onBlock({ number: 1, transactions: [first], baseFee: FLOOR, nowMs: 0 })
  expect(longestWaiting(pool)).toBe(third.hash)
  // A replacement is new.
  pool.passedOver(third, 0)
  pool.admit(heavy(CAROL, 90n), 'remote')
  expect(longestWaiting(pool)).toBeUndefined()
})

test('nothing is kept for a sender that has overrun', () => {
  const { pool } = createPool()
  const tx = heavy(ALICE)
  pool.admit(tx, 'remote')
  pool.selectForBlock(FLOOR)
  pool.overran(tx, 100, 0)
  pool.passedOver(tx, 0)
  expect(longestWaiting(pool)).toBeUndefined()
})

test('a pool with nothing but what waits has no candidate', () => {
  const { pool } = createPool()
  expect(pool.hasCandidate(0)).toBe(false)
  pool.admit(heavy(ALICE), 'remote')
  expect(pool.hasCandidate(0)).toBe(true)
  pool.overran(heavy(ALICE), 100, 0)
  expect(pool.hasCandidate(0)).toBe(false)
  expect(pool.hasCandidate(waitMs(200))).toBe(true)
  pool.admit(transaction({ from: BOB, nonce: 0 }), 'remote')
  expect(pool.hasCandidate(0)).toBe(true)
})

test('a few senders are remembered', () => {
  const { pool } = createPool()
  for (let at = 0; at <= POOL_LIMITS.overrunSenders; at++) pool.overran(heavy(address(at + 1)), 100, 0)
  expect(pool.overrunSenders).toBe(POOL_LIMITS.overrunSenders)
  expect([1, POOL_LIMITS.overrunSenders + 1].map(at => pool.neededMs(heavy(address(at)), 0))).toEqual([0, 200])
})
