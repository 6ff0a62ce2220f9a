import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { encodeCycle } from '../../../../src/chain/council/council-rows.ts'
import { CycleSeeds } from '../../../../src/chain/council/cycle-seeds.ts'
import { firstSeed } from '../../../../src/rules/council/cycle.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import { readNumber } from '../../../../src/storage/keys.ts'

const GENESIS: Hex = `0x${'5e'.repeat(32)}`

const NO_STATUS = { jailed: new Set<Hex>(), queued: new Set<Hex>(), unproven: new Set<Hex>(), idle: new Map() }

/** Records of genesis and of the ends of two cycles, each with a seed that tells its block. */
const store = {
  getSync(bucket: number, key: Uint8Array) {
    const number = readNumber(key)
    if (bucket !== BUCKETS.cycle || number % 60 !== 0 || number > 120) return undefined
    const record = { number, councilAt: 0, members: [], lapses: new Map(), ...NO_STATUS }
    return encodeCycle({ ...record, seed: toWord(BigInt(1_000 + number)) })
  },
}

test('the seed of a cycle is that of the council record which serves it; the first follows from genesis alone', () => {
  const seeds = new CycleSeeds(GENESIS, store, 60)
  expect(seeds.of(0)).toBe(firstSeed(GENESIS))
  expect([1, 2, 3].map(cycle => seeds.of(cycle))).toEqual([1_000n, 1_060n, 1_120n].map(toWord))
})

test('a cycle is a whole number whose record is there', () => {
  const seeds = new CycleSeeds(GENESIS, store, 60)
  for (const cycle of [-1, 0.5, 4]) expect(() => seeds.of(cycle)).toThrow()
})

test('a simulated block beyond the known cycles takes the seed of the last of them', () => {
  const seeds = new CycleSeeds(GENESIS, store, 60)
  expect([0, 2, 3, 4, 7].map(cycle => seeds.ofLatestUpTo(cycle))).toEqual([
    firstSeed(GENESIS),
    ...[1_060n, 1_120n, 1_120n, 1_120n].map(toWord),
  ])
  expect(() => seeds.of(4)).toThrow()
})

test('seeds read before blocks were taken back do not count', () => {
  let seed = toWord(1n)
  const changing = {
    getSync: () => encodeCycle({ number: 0, councilAt: 0, members: [], lapses: new Map(), ...NO_STATUS, seed }),
  }
  const seeds = new CycleSeeds(GENESIS, changing, 60)
  expect(seeds.of(2)).toBe(toWord(1n))
  seed = toWord(2n)
  // Its council is that after block 60.
  seeds.forget(60)
  expect(seeds.of(2)).toBe(toWord(1n))
  seeds.forget(59)
  expect(seeds.of(2)).toBe(toWord(2n))
})
