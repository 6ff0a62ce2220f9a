import { describe, expect, test } from 'vitest'
import {
  drawCommittee,
  faultsOf,
  proposerOf,
  proposerOrder,
  quorumOf,
  randomWords,
} from '../../../src/consensus/committee.ts'
import { keccak256 } from '../../../src/crypto/hash.ts'
import type { Hex } from '../../../src/util/bytes.ts'

const address = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`
const council = (size: number): readonly Hex[] => Array.from({ length: size }, (_, index) => address(index))
const seedOf = (text: string): Uint8Array => keccak256(new TextEncoder().encode(text))

describe('quorums', () => {
  test('of n = 1 to 200: two share a correct member, and the correct ones are enough', () => {
    for (let n = 1; n <= 200; n++) {
      const f = faultsOf(n)
      const q = quorumOf(n)
      expect(3 * f).toBeLessThan(n)
      expect(3 * (f + 1)).toBeGreaterThanOrEqual(n)
      expect(2 * q - n).toBeGreaterThanOrEqual(f + 1)
      expect(n - f).toBeGreaterThanOrEqual(q)
      // QBFT's formal specification writes the same number so.
      expect(q).toBe(Math.floor((2 * n - 1) / 3) + 1)
    }
  })

  test.each([
    [1, 0, 1],
    [2, 0, 2],
    [3, 0, 2],
    [4, 1, 3],
    [7, 2, 5],
    [22, 7, 15],
    [50, 16, 34],
    [100, 33, 67],
  ])('n = %i: f = %i, quorum %i', (n, f, q) => {
    expect([faultsOf(n), quorumOf(n)]).toEqual([f, q])
  })
})

describe('committees', () => {
  test('a small council serves whole, in an order that the seed decides', () => {
    const drawn = drawCommittee(council(7), 31, seedOf('a'))
    expect(new Set(drawn.members)).toEqual(new Set(council(7)))
    expect(drawCommittee(council(7).toReversed(), 31, seedOf('a'))).toEqual(drawn)
    expect(drawCommittee(council(7), 31, seedOf('b'))).not.toEqual(drawn)
  })

  test('a large council is sampled without repetition', () => {
    const { members } = drawCommittee(council(100), 31, seedOf('c'))
    expect(members).toHaveLength(31)
    expect(new Set(members).size).toBe(31)
  })

  test('every member of a council is drawn about equally often', () => {
    const counts = new Map<Hex, number>()
    const draws = 2_000
    for (let draw = 0; draw < draws; draw++) {
      for (const member of drawCommittee(council(10), 4, seedOf(`draw ${draw}`)).members) {
        counts.set(member, (counts.get(member) ?? 0) + 1)
      }
    }
    // 800 expected, standard deviation 22: five of them.
    for (const count of counts.values()) expect(Math.abs(count - 800)).toBeLessThan(110)
    expect(counts.size).toBe(10)
  })

  test('the turn moves with the height and with the round', () => {
    const committee = { members: council(4) }
    expect([0, 1, 2, 3, 4].map(round => proposerOf(committee, 10, round))).toEqual([2, 3, 0, 1, 2].map(address))
    expect(proposerOrder(committee, 10)).toEqual([2, 3, 0, 1].map(address))
    expect(proposerOf({ members: council(1) }, 123, 9)).toBe(address(0))
  })

  test('random words stay below their bound and follow from the seed', () => {
    const words = randomWords(seedOf('w'), 'x')
    const again = randomWords(seedOf('w'), 'x')
    const other = randomWords(seedOf('w'), 'y')
    const drawn = Array.from({ length: 200 }, () => words.below(7))
    expect(drawn.every(word => word >= 0 && word < 7)).toBe(true)
    expect(Array.from({ length: 200 }, () => again.below(7))).toEqual(drawn)
    expect(Array.from({ length: 200 }, () => other.below(7))).not.toEqual(drawn)
  })
})
