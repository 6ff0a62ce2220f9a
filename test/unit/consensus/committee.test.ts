import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { CONSENSUS_BOUNDS } from '../../../src/config/protocol-bounds.ts'
import { drawCommittee, type Eligible, proposerOf, proposerOrder } from '../../../src/consensus/committee.ts'
import { keccak256 } from '../../../src/crypto/hash.ts'
import { faultsOf, quorumOf } from '../../../src/rules/council/quorum.ts'
import { settledMembers } from '../../support/consensus/eligible.ts'

const address = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`
const council = (size: number): readonly Hex[] => Array.from({ length: size }, (_, index) => address(index))
const eligible = (size: number): readonly Eligible[] => settledMembers(council(size))
const draw = (members: readonly Eligible[], committeeSize: number, seed: Uint8Array) =>
  drawCommittee(members, { committeeSize, seed, first: 1 })
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
    const drawn = draw(eligible(7), 31, seedOf('a'))
    expect(new Set(drawn.members)).toEqual(new Set(council(7)))
    expect(draw(eligible(7).toReversed(), 31, seedOf('a'))).toEqual(drawn)
    expect(draw(eligible(7), 31, seedOf('b'))).not.toEqual(drawn)
  })

  test('a large council is sampled without repetition', () => {
    const { members } = draw(eligible(100), 31, seedOf('c'))
    expect(members).toHaveLength(31)
    expect(new Set(members).size).toBe(31)
  })

  test('a key gives no choice: whatever keys they take, the same admissions are drawn in the same order', () => {
    // 89 that stand, and eleven that look for keys: with them all in one committee of 31 they could fork the chain.
    const others = eligible(89)
    const seed = seedOf('known for ever')
    const drawnWith = (keys: number): readonly number[] => {
      const grinding = Array.from({ length: 11 }, (_, at): Eligible => {
        const validator = bytesToHex(keccak256(Uint8Array.of(keys, at)).subarray(12))
        return { validator, admission: 90 + at, isRecent: false, isHeard: true, idleness: undefined }
      })
      const all = [...others, ...grinding]
      const admissions = new Map(all.map(({ validator, admission }) => [validator, admission]))
      return draw(all, 31, seed).members.map(member => admissions.get(member) as number)
    }
    const drawn = drawnWith(0)
    expect(drawn.filter(admission => admission >= 90).length).toBeLessThanOrEqual(faultsOf(31))
    // If keys had any influence, 31 of 100 places would be the same a hundred times in a row by no chance.
    for (let keys = 1; keys <= 100; keys++) expect(drawnWith(keys)).toEqual(drawn)
  })

  test('a member that leaves frees its place for the next one, and moves no other', () => {
    const all = eligible(100)
    const before = draw(all, 31, seedOf('d')).members
    const [next] = draw(all, 32, seedOf('d')).members.slice(31) as [Hex]
    for (const gone of all) {
      const after = draw(
        all.filter(member => member !== gone),
        31,
        seedOf('d'),
      ).members
      const isDrawn = before.includes(gone.validator)
      expect(after).toEqual(isDrawn ? [...before.filter(member => member !== gone.validator), next] : before)
    }
  })

  test('a member that may have known the seed at its admission is drawn only where the others are too few', () => {
    const all = eligible(40).map(member => ({ ...member, isRecent: member.admission > 33 }))
    const recent = (size: number) => draw(all, size, seedOf('e')).members.filter(member => Number(member) >= 33).length
    expect([recent(31), recent(33), recent(35), recent(40)]).toEqual([0, 0, 2, 7])
    // When all members serve, recent ones are shuffled like the others.
    const settled = all.map(member => ({ ...member, isRecent: false }))
    expect(draw(all, 40, seedOf('e'))).toEqual(draw(settled, 40, seedOf('e')))
  })

  test('every member of a council is drawn about equally often', () => {
    const counts = new Map<Hex, number>()
    const draws = 2_000
    for (let at = 0; at < draws; at++) {
      for (const member of draw(eligible(10), 4, seedOf(`draw ${at}`)).members) {
        counts.set(member, (counts.get(member) ?? 0) + 1)
      }
    }
    // 800 expected, standard deviation 22: five of them.
    for (const count of counts.values()) expect(Math.abs(count - 800)).toBeLessThan(110)
    expect(counts.size).toBe(10)
  })

  test('a sample of any size that a genesis may set has a quorum beside its trials', () => {
    const { leastCommittee, committee } = CONSENSUS_BOUNDS
    for (let size = leastCommittee; size <= committee; size++) {
      const members = eligible(size + 20).map(member => ({ ...member, isHeard: member.admission <= size }))
      const heard = draw(members, size, seedOf('f')).members.filter(member => Number(member) < size)
      expect(heard.length, `size ${size}`).toBeGreaterThanOrEqual(quorumOf(size))
    }
  })

  test('the turn moves with the height and with the round', () => {
    const committee = { members: council(4) }
    expect([0, 1, 2, 3, 4].map(round => proposerOf(committee, 10, round))).toEqual([2, 3, 0, 1, 2].map(address))
    expect(proposerOrder(committee, 10)).toEqual([2, 3, 0, 1].map(address))
    expect(proposerOf({ members: council(1) }, 123, 9)).toBe(address(0))
  })
})
