import { type Hex, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { Council } from '../../../../src/chain/council/council.ts'
import { encodeCouncil, encodeCycle } from '../../../../src/chain/council/council-rows.ts'
import { NETWORKS } from '../../../../src/config/networks.ts'
import { firstSeed } from '../../../../src/rules/council/cycle.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import { readNumber } from '../../../../src/storage/keys.ts'

const GENESIS: Hex = `0x${'5e'.repeat(32)}`
const ADDRESS: Hex = `0x${'a1'.repeat(20)}`
const MEMBERS = [{ name: 'one', validator: ADDRESS, owner: ADDRESS, reward: ADDRESS, admission: 1, stakeWei: 1n }]

const NO_STATUS = {
  lapses: new Map(),
  jailed: new Set<Hex>(),
  queued: new Set<Hex>(),
  unproven: new Set<Hex>(),
  idle: new Map(),
}

/** Council over records of cycles of 60 blocks; `seedAt` tells the seed in the record of a block, undefined: there is none. */
const councilOf = (seedAt: (number: number) => Hex | undefined): Council => {
  const getSync = (bucket: number, key: Uint8Array) => {
    if (bucket === BUCKETS.council) return encodeCouncil(MEMBERS)
    const number = readNumber(key)
    const seed = bucket === BUCKETS.cycle ? seedAt(number) : undefined
    return seed && encodeCycle({ number, councilAt: 0, members: MEMBERS, ...NO_STATUS, seed })
  }
  const { mainnet } = NETWORKS
  return new Council({
    params: { ...mainnet, rewards: { ...mainnet.rewards, cycleBlocks: 60 } },
    foundation: ADDRESS,
    genesisHash: GENESIS,
    store: { getSync },
    blocks: { header: async () => undefined },
    state: { account: () => undefined, storage: () => ZERO_HASH },
  })
}

/** Records of genesis and of the ends of two cycles, each with a seed that tells its block. */
const threeRecords = () =>
  councilOf(number => (number % 60 === 0 && number <= 120 ? toWord(BigInt(1_000 + number)) : undefined))

test('the seed of a cycle is that of the council record which serves it; the first follows from genesis alone', () => {
  const council = threeRecords()
  expect(council.seedOf(0)).toBe(firstSeed(GENESIS))
  expect([1, 2, 3].map(cycle => council.seedOf(cycle))).toEqual([1_000n, 1_060n, 1_120n].map(toWord))
})

test('a cycle is a whole number whose record is there', () => {
  const council = threeRecords()
  for (const cycle of [-1, 0.5, 4]) expect(() => council.seedOf(cycle)).toThrow()
})

test('a simulated block beyond the known cycles takes the seed of the last of them', () => {
  const council = threeRecords()
  expect([0, 2, 3, 4, 7].map(cycle => council.latestSeedUpTo(cycle))).toEqual([
    firstSeed(GENESIS),
    ...[1_060n, 1_120n, 1_120n, 1_120n].map(toWord),
  ])
  expect(() => council.seedOf(4)).toThrow()
})

test('seeds read before blocks were taken back do not count', () => {
  let seed = toWord(1n)
  const council = councilOf(() => seed)
  expect(council.seedOf(2)).toBe(toWord(1n))
  seed = toWord(2n)
  // Its council is that after block 60.
  council.forget(60)
  expect(council.seedOf(2)).toBe(toWord(1n))
  council.forget(59)
  expect(council.seedOf(2)).toBe(toWord(2n))
})
