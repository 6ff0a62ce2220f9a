import { createRandom } from '@tandem/base/random.ts'
import { describe, expect, test } from 'vitest'
import { STRATUM_LIMITS, VARDIFF_LIMITS } from '../../../../src/config/limits/stratum.ts'
import { Vardiff } from '../../../../src/powchain/stratum/core/vardiff.ts'

const { shareMs, firstHashes } = VARDIFF_LIMITS
/** Time until a miner knows a new difficulty. */
const LATENCY_MS = 150
/** Lines that the server reads of one connection. */
const LEAST_GAP_MS = 1_000 / STRATUM_LIMITS.lines.perSecond

interface Run {
  /** Times of the shares. */
  readonly shares: readonly number[]
  /** Times and values of the changes. */
  readonly changes: readonly { readonly atMs: number; readonly hashes: number }[]
}

/** A miner of so many hashes per second from one moment on, in virtual time; it learns of a change after the latency. */
const mine = (seed: number, rateAt: (atMs: number) => number, endMs: number): Run => {
  const random = createRandom(seed)
  const vardiff = new Vardiff(firstHashes[1], 0)
  const shares: number[] = []
  const changes: { atMs: number; hashes: number }[] = []
  let known = { hashes: vardiff.hashes, atMs: 0 }
  let next: { hashes: number; atMs: number } | undefined
  const tell = (atMs: number) => {
    changes.push({ atMs, hashes: vardiff.hashes })
    next = { hashes: vardiff.hashes, atMs: atMs + LATENCY_MS }
  }
  let reviewMs = 1_000
  for (let atMs = 0; atMs < endMs; ) {
    const found = atMs + Math.max(LEAST_GAP_MS, (-Math.log(1 - random.next()) * known.hashes * 1_000) / rateAt(atMs))
    const news = next?.atMs ?? Number.POSITIVE_INFINITY
    atMs = Math.min(found, news, reviewMs)
    // Hashing has no memory: a search that is cut short begins anew.
    if (atMs === news && next !== undefined) {
      known = next
      next = undefined
    } else if (atMs === reviewMs) {
      reviewMs += 1_000
      if (vardiff.review(atMs)) tell(atMs)
    } else {
      shares.push(atMs)
      if (vardiff.count(known.hashes, atMs)) tell(atMs)
    }
  }
  return { shares, changes }
}

const HOUR_MS = 3_600_000
const SEED = 17

describe.each([1e3, 1e4, 1e6, 1e9, 1e12])('a miner of %d hashes per second', rate => {
  test('comes to one share in ten seconds within half an hour, and its difficulty stays then', () => {
    for (let run = 0; run < 10; run++) {
      const { shares, changes } = mine(SEED + run, () => rate, 5 * HOUR_MS)
      const label = `SEED=${SEED + run}`
      const settled = changes.filter(({ atMs }) => atMs > HOUR_MS / 2)
      const mean = (4 * HOUR_MS) / shares.filter(atMs => atMs > HOUR_MS).length
      expect(mean, label).toBeGreaterThan(shareMs * 0.6)
      expect(mean, label).toBeLessThan(shareMs * 1.6)
      // Chance moves it now and then; an oscillation would move it in most of the 27 windows of ten minutes.
      expect(settled.length, label).toBeLessThanOrEqual(4)
    }
  })

  test('reaches twice the wanted rate of shares in the first minutes', () => {
    const { shares } = mine(SEED, () => rate, HOUR_MS)
    const early = shares.filter(atMs => atMs > 10 * 60_000 && atMs <= 20 * 60_000)
    expect(early.length).toBeGreaterThan(20)
    expect(early.length).toBeLessThan(150)
  })
})

test('a miner a hundred times as fast, and later as slow as before, is followed both ways without overshoot', () => {
  const rateAt = (atMs: number) => (atMs > HOUR_MS && atMs <= 2 * HOUR_MS ? 1e8 : 1e6)
  const { shares, changes } = mine(SEED, rateAt, 3 * HOUR_MS)
  const within = (from: number, to: number) => shares.filter(atMs => atMs > from && atMs <= to).length
  expect(within(1.5 * HOUR_MS, 2 * HOUR_MS)).toBeGreaterThan(100)
  expect(within(1.5 * HOUR_MS, 2 * HOUR_MS)).toBeLessThan(300)
  expect(within(2.5 * HOUR_MS, 3 * HOUR_MS)).toBeGreaterThan(100)
  expect(within(2.5 * HOUR_MS, 3 * HOUR_MS)).toBeLessThan(300)
  expect(Math.max(...changes.map(({ hashes }) => hashes))).toBeLessThan(1e9 * 2)
})

test('shares of an easier, earlier difficulty count by their work', () => {
  const vardiff = new Vardiff(1_000, 0)
  for (let at = 0; at < 100; at++) expect(vardiff.count(1, 1_000 + at)).toBe(false)
  expect(vardiff.hashes).toBe(1_000)
})

test('a miner without shares gets an easier difficulty, down to the least', () => {
  const vardiff = new Vardiff(64, 0)
  expect(vardiff.review(100_000)).toBe(false)
  expect(vardiff.review(170_000)).toBe(true)
  expect(vardiff.hashes).toBeLessThan(8)
  for (let atMs = 170_000; atMs < HOUR_MS; atMs += 10_000) vardiff.review(atMs)
  expect(vardiff.hashes).toBe(VARDIFF_LIMITS.leastHashes)
})
