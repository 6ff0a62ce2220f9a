import { describe, expect, test } from 'vitest'
import { NETWORKS } from '../../../../src/config/networks.ts'
import { createForkFilter } from '../../../../src/network/identity/fork-id.ts'

/** Ethereum's own mainnet up to Petersburg: the test cases of EIP-2124. */
const GENESIS = '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3'
const rules = createForkFilter(GENESIS, [
  { name: 'frontier', height: 0 },
  { name: 'homestead', height: 1_150_000 },
  { name: 'tangerineWhistle', height: 2_463_000 },
  { name: 'spuriousDragon', height: 2_675_000 },
  { name: 'byzantium', height: 4_370_000 },
  // Two forks at one height count once.
  { name: 'constantinople', height: 7_280_000 },
  { name: 'petersburg', height: 7_280_000 },
  { name: 'prague', height: null },
])

describe('fork ids (EIP-2124)', () => {
  test.each([
    [0, '0xfc64ec04', 1_150_000],
    [1_149_999, '0xfc64ec04', 1_150_000],
    [1_150_000, '0x97c2c34c', 1_920_000],
  ] as const)('at %i', (head, hash, next) => {
    // The list lacks the fork of 1,920,000, which this node has no name for: the first sums are the same.
    const id = rules.at(head)
    expect(id.hash).toBe(hash)
    if (next !== 1_920_000) expect(id.next).toBe(next)
  })

  const [first, second, third] = [rules.at(0), rules.at(1_150_000), rules.at(2_463_000)]
  test.each([
    ['the same', second, 1_200_000, true],
    ['the same, without a word about the next', { ...second, next: 0 }, 1_200_000, true],
    ['the same, with a next that is ahead here too', { ...second, next: 5_000_000 }, 1_200_000, true],
    ['the same, with a next that is behind here', { ...second, next: 1_199_999 }, 1_200_000, false],
    ['behind, and knows what comes', first, 1_200_000, true],
    ['behind, and does not', { ...first, next: 0 }, 1_200_000, false],
    ['behind, and waits for something else', { ...first, next: 1_150_001 }, 1_200_000, false],
    ['ahead on our own forks', third, 1_200_000, true],
    ['ahead on others', { hash: '0xdeadbeef' as const, next: 0 }, 1_200_000, false],
  ])('%s', (_, remote, head, accepted) => {
    expect(rules.accepts(remote, head)).toBe(accepted)
  })

  test('tell networks apart that disagree about the proof chain', () => {
    const { forks } = NETWORKS.devnet
    const other = forks.map(fork => (fork.name === 'nativeHash' ? { ...fork, height: 21 } : fork))
    const [a, b] = [createForkFilter(GENESIS, forks), createForkFilter(GENESIS, other)]
    expect(a.at(0).hash).not.toBe(b.at(0).hash)
    expect(a.at(0).next, 'heights of the proof chain are no numbers of the main chain').toBe(0)
    expect(a.accepts(b.at(0), 0)).toBe(false)
  })
})
