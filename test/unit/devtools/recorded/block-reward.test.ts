import { expect, test } from 'vitest'
import { blockReward, rewardPayments } from '../../../../devtools/recorded/ethereum-reward.ts'
import type { EvmFork } from '../../../../src/config/forks.ts'

const ETHER = 10n ** 18n
const MINER = `0x${'11'.repeat(20)}` as const
const UNCLE = `0x${'22'.repeat(20)}` as const

test.each<[EvmFork, bigint]>([
  ['frontier', 5n],
  ['spuriousDragon', 5n],
  ['byzantium', 3n],
  ['constantinople', 2n],
  ['london', 2n],
  ['paris', 0n],
  ['osaka', 0n],
])('a block of %s mints %i coins', (fork, coins) => {
  expect(blockReward(fork)).toBe(coins * ETHER)
})

test('an uncle is paid an eighth less for each generation, its nephew a thirty-second for each', () => {
  const uncles = [
    { number: 99, miner: UNCLE },
    { number: 94, miner: MINER },
  ]
  expect(rewardPayments('byzantium', { number: 100, miner: MINER }, uncles)).toEqual([
    { address: UNCLE, amountWei: (3n * ETHER * 7n) / 8n },
    { address: MINER, amountWei: (3n * ETHER * 2n) / 8n },
    { address: MINER, amountWei: 3n * ETHER + (3n * ETHER * 2n) / 32n },
  ])
})

test('from the merge on there is no reward', () => {
  expect(rewardPayments('paris', { number: 100, miner: MINER }, [])).toEqual([])
})
