import { expect, test } from 'vitest'
import { CycleSeeds } from '../../../../src/chain/council/cycle-seeds.ts'
import { firstSeed, nextSeed } from '../../../../src/rules/randao.ts'
import { type Hex, ZERO_HASH } from '../../../../src/util/bytes.ts'

const GENESIS: Hex = `0x${'5e'.repeat(32)}`
const CYCLES = 1_100

test('every seed follows from the one before, in whatever order they are asked for', () => {
  const expected: Hex[] = [firstSeed(GENESIS)]
  for (let cycle = 1; cycle <= CYCLES; cycle++) expected.push(nextSeed(expected[cycle - 1] as Hex, ZERO_HASH, cycle))
  for (const order of [
    [0, 1, 255, 256, 257, 1_100],
    [1_100, 1_024, 1, 0, 512, 513, 511],
    [700, 300, 700, 1_099],
  ]) {
    const seeds = new CycleSeeds(GENESIS)
    for (const cycle of order) expect(seeds.of(cycle), `cycle ${cycle}`).toBe(expected[cycle])
  }
  const seeds = new CycleSeeds(GENESIS)
  for (let cycle = 0; cycle <= CYCLES; cycle++) expect(seeds.of(cycle)).toBe(expected[cycle])
})

test('a cycle is a whole number', () => {
  expect(() => new CycleSeeds(GENESIS).of(-1)).toThrow()
  expect(() => new CycleSeeds(GENESIS).of(0.5)).toThrow()
})
