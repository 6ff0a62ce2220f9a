import type { Hex } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { certificateFromSigners } from '../../../../src/primitives/consensus/certificate.ts'
import {
  countSeals,
  type Inactivities,
  type Inactivity,
  nextInactivities,
  qualifiedValidators,
  validatorStatus,
} from '../../../../src/rules/council/validator-activity.ts'

const address = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`
const council = (size: number): readonly Hex[] => Array.from({ length: size }, (_, index) => address(index + 1))
const members = (size: number) => council(size).map((validator, at) => ({ validator, admission: at + 1 }))
const [A, B, C] = council(3) as [Hex, Hex, Hex]
const SEAL = new Uint8Array(65)
const sealing = (members: readonly Hex[], ...signers: readonly Hex[]) => ({
  committee: { members },
  certificate: certificateFromSigners(
    0,
    members.length,
    new Map(signers.map(signer => [members.indexOf(signer), SEAL])),
  ),
})
const W = { inactiveBlocks: 20 }
const cycle = (sealed: boolean) => new Map([[A, { certificates: 10, sealed }]])
const NONE: Inactivities = new Map()

describe('attendance', () => {
  test('counts certificates by the committee of each, whose indexes its bitmap means', () => {
    const attendance = countSeals([sealing([A, B], B), sealing([B, C], B), sealing([C, A], C)])
    expect(attendance).toEqual(
      new Map([
        [A, { certificates: 2, sealed: false }],
        [B, { certificates: 2, sealed: true }],
        [C, { certificates: 2, sealed: true }],
      ]),
    )
  })
})

describe('lapses', () => {
  test('grow with every certificate without a seal, put a member out for as many blocks, and end with one seal', () => {
    const first = nextInactivities([A], NONE, cycle(false), { number: 10, ...W })
    expect(first.get(A)).toEqual({ silentBlocks: 10, outUntil: 0 })
    const second = nextInactivities([A], first, cycle(false), { number: 20, ...W })
    expect(second.get(A)).toEqual({ silentBlocks: 20, outUntil: 40 })
    // It still serves the cycle that was drawn before.
    const third = nextInactivities([A], second, cycle(false), { number: 30, ...W })
    expect(third.get(A)).toEqual({ silentBlocks: 30, outUntil: 50 })
    expect(nextInactivities([A], third, cycle(true), { number: 40, ...W }).has(A)).toBe(false)
  })

  test('stand still while a member does not serve; after its return one silent cycle is enough', () => {
    const out: Inactivities = new Map([[A, { silentBlocks: 20, outUntil: 40 }]])
    const later = nextInactivities([A], out, new Map(), { number: 30, ...W })
    expect(later).toEqual(out)
    const at = (number: number) => validatorStatus(A, { lapses: later, jailed: new Set() }, number)
    expect([at(20), at(39), at(40)]).toEqual(['inactive', 'inactive', 'active'])
    expect(nextInactivities([A], later, cycle(false), { number: 60, ...W }).get(A)).toEqual({
      silentBlocks: 30,
      outUntil: 80,
    })
  })

  test('are of members only', () => {
    expect(nextInactivities([B], NONE, cycle(false), { number: 10, ...W })).toEqual(new Map())
  })
})

describe('who may serve', () => {
  const serviceOf = (inactive: readonly Hex[], jailed: readonly Hex[] = []) => ({
    lapses: new Map(inactive.map((member, index) => [member, { silentBlocks: 100 - index, outUntil: 200 }])),
    jailed: new Set(jailed),
    unproven: new Set<Hex>(),
  })
  const qualified = (size: number, ...args: Parameters<typeof serviceOf>) =>
    qualifiedValidators(members(size), serviceOf(...args), 100).map(({ validator }) => validator)
  const without = (size: number, ...out: readonly number[]) =>
    council(size).filter(member => !out.includes(Number(member)))

  test('are the active ones', () => {
    expect(qualified(7, [address(1)], [address(2)])).toEqual(without(7, 1, 2))
  })

  test('are all but f at least, however many are silent: the longest silent are out', () => {
    expect(qualified(31, council(31).slice(0, 27))).toEqual(council(31).slice(10))
    expect(qualified(31, council(31))).toEqual(council(31).slice(10))
    expect(qualified(7, [address(6), address(2), address(4)])).toEqual(without(7, 6, 2))
    expect(qualified(22, council(22).toReversed())).toEqual(council(15))
  })

  test('of equally silent ones the last admitted go first', () => {
    const lapse = { silentBlocks: 600, outUntil: 200 }
    const service = {
      lapses: new Map(council(7).map(member => [member, lapse])),
      jailed: new Set<Hex>(),
      unproven: new Set<Hex>(),
    }
    const shuffled = [3, 1, 7, 5, 2, 6, 4].map(admission => ({ validator: address(admission), admission }))
    expect(qualifiedValidators(shuffled, service, 100).map(({ admission }) => admission)).toEqual([3, 1, 5, 2, 4])
  })

  test('jail goes first: each jailed member leaves room for one inactive member less, and none beyond f', () => {
    const silent = council(31).slice(0, 12)
    const jailed = (count: number) => council(31).slice(31 - count)
    expect(qualified(31, silent, jailed(4))).toEqual(council(31).slice(6, 27))
    expect(qualified(31, silent, jailed(10))).toEqual(council(31).slice(0, 21))
    // More are proven than could be faulty: no proof is overlooked, and silence puts out nobody.
    expect(qualified(31, silent, jailed(13))).toEqual(council(31).slice(0, 18))
    // A member that is both jailed and inactive counts once.
    expect(qualified(7, [address(1), address(2)], [address(1)])).toEqual(without(7, 1, 2))
  })

  describe('on trial', () => {
    /** Members whose time is over, and others that are not heard either. */
    const returning = (size: number, tried: readonly Hex[], silent: readonly Hex[] = []) => {
      const inactivities: Inactivities = new Map([
        ...tried.map((who, at) => [who, { silentBlocks: 600 + at, outUntil: 100 }] as [Hex, Inactivity]),
        ...silent.map(who => [who, { silentBlocks: 60, outUntil: 0 }] as [Hex, Inactivity]),
      ])
      return qualifiedValidators(
        members(size),
        { lapses: inactivities, jailed: new Set(), unproven: new Set() },
        100,
      ).map(({ validator }) => validator)
    }

    test('members return when their time is over, half as many as may be faulty at once: the least silent first', () => {
      expect(returning(31, council(31).slice(0, 10))).toEqual(without(31, 6, 7, 8, 9, 10))
      expect(returning(31, council(31).slice(0, 3))).toEqual(council(31))
      expect(returning(5, [address(2)])).toEqual(council(5))
    })

    test('they return only where those that were heard are a quorum without them', () => {
      // 31 - 10 - 7 = 14 are heard, the quorum of 21: nobody may come back silent.
      expect(returning(31, council(31).slice(0, 10), council(31).slice(24))).toEqual(council(31).slice(10))
      // One more that is heard bears one more that may not be: the quorum of 22 is 15.
      expect(returning(31, council(31).slice(0, 10), council(31).slice(25))).toEqual(
        without(31, 2, 3, 4, 5, 6, 7, 8, 9, 10),
      )
    })

    test('of more than f, those whose time is not over stay out first', () => {
      const lapses = new Map([
        [address(1), { silentBlocks: 900, outUntil: 100 }],
        [address(2), { silentBlocks: 600, outUntil: 700 }],
        [address(3), { silentBlocks: 660, outUntil: 700 }],
      ])
      const serving = qualifiedValidators(members(7), { lapses, jailed: new Set(), unproven: new Set() }, 100)
      expect(serving.map(({ validator }) => validator)).toEqual(without(7, 2, 3))
    })
  })

  test('are never fewer than four where four exist: the least silent first, jailed ones last', () => {
    const [one, two, three, four, five] = council(5) as [Hex, Hex, Hex, Hex, Hex]
    // Of two and one, two was heard of later.
    expect(qualified(5, [one, two])).toEqual([two, three, four, five])
    expect(qualified(5, [one], [two])).toEqual([one, three, four, five])
    expect(qualified(5, [], [one, two])).toEqual([one, three, four, five])
    expect(qualified(5, council(5))).toEqual([two, three, four, five])
    expect(qualified(6, [], council(6))).toEqual(council(4))
    expect(qualified(4, [one])).toEqual(council(4))
  })

  test('are all where there are fewer than four: without one of them nothing would be gained', () => {
    expect(qualified(3, [address(1)], [address(2)])).toEqual(council(3))
    expect(qualified(1, [], [address(1)])).toEqual(council(1))
  })
})
