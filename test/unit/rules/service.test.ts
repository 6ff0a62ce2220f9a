import { describe, expect, test } from 'vitest'
import { certificateOf } from '../../../src/primitives/certificate.ts'
import { attendanceOf, type Lapses, nextLapses, qualifiedOf, standingOf } from '../../../src/rules/service.ts'
import type { Hex } from '../../../src/util/bytes.ts'

const address = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`
const council = (size: number): readonly Hex[] => Array.from({ length: size }, (_, index) => address(index + 1))
const [A, B, C] = council(3) as [Hex, Hex, Hex]
const SEAL = new Uint8Array(65)
const sealing = (members: readonly Hex[], ...signers: readonly Hex[]) => ({
  members,
  certificate: certificateOf(0, members.length, new Map(signers.map(signer => [members.indexOf(signer), SEAL]))),
})
const W = { inactiveBlocks: 20 }
const cycle = (sealed: boolean) => new Map([[A, { certificates: 10, sealed }]])
const NONE: Lapses = new Map()

describe('attendance', () => {
  test('counts certificates by the committee of each, whose indexes its bitmap means', () => {
    const attendance = attendanceOf([sealing([A, B], B), sealing([B, C], B), sealing([C, A], C)])
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
    const first = nextLapses([A], NONE, cycle(false), { number: 10, ...W })
    expect(first.get(A)).toEqual({ silentBlocks: 10, outUntil: 0 })
    const second = nextLapses([A], first, cycle(false), { number: 20, ...W })
    expect(second.get(A)).toEqual({ silentBlocks: 20, outUntil: 40 })
    // It still serves the cycle that was drawn before.
    const third = nextLapses([A], second, cycle(false), { number: 30, ...W })
    expect(third.get(A)).toEqual({ silentBlocks: 30, outUntil: 50 })
    expect(nextLapses([A], third, cycle(true), { number: 40, ...W }).has(A)).toBe(false)
  })

  test('stand still while a member does not serve; after its return one silent cycle is enough', () => {
    const out: Lapses = new Map([[A, { silentBlocks: 20, outUntil: 40 }]])
    const later = nextLapses([A], out, new Map(), { number: 30, ...W })
    expect(later).toEqual(out)
    const at = (number: number) => standingOf(A, { lapses: later, jailed: new Set() }, number)
    expect([at(20), at(39), at(40)]).toEqual(['inactive', 'inactive', 'active'])
    expect(nextLapses([A], later, cycle(false), { number: 60, ...W }).get(A)).toEqual({
      silentBlocks: 30,
      outUntil: 80,
    })
  })

  test('are of members only', () => {
    expect(nextLapses([B], NONE, cycle(false), { number: 10, ...W })).toEqual(new Map())
  })
})

describe('who may serve', () => {
  const serviceOf = (inactive: readonly Hex[], jailed: readonly Hex[] = []) => ({
    lapses: new Map(inactive.map((member, index) => [member, { silentBlocks: 100 - index, outUntil: 200 }])),
    jailed: new Set(jailed),
  })
  const qualified = (size: number, ...args: Parameters<typeof serviceOf>) =>
    [...qualifiedOf(council(size), serviceOf(...args), 100)].sort()

  test('are the active ones', () => {
    expect(qualified(7, [address(1)], [address(2)])).toEqual(council(7).slice(2))
  })

  test('are never fewer than four where four exist: the least silent first, jailed ones last', () => {
    const [one, two, three, four, five] = council(5) as [Hex, Hex, Hex, Hex, Hex]
    // Of two and one, two was heard of later.
    expect(qualified(5, [one, two])).toEqual([two, three, four, five])
    expect(qualified(5, [one], [two])).toEqual([one, three, four, five])
    expect(qualified(5, [], [one, two])).toEqual([one, three, four, five])
    expect(qualified(5, council(5))).toEqual([two, three, four, five])
  })

  test('are all where there are fewer than four: without one of them nothing would be gained', () => {
    expect(qualified(3, [address(1)], [address(2)])).toEqual(council(3))
    expect(qualified(1, [], [address(1)])).toEqual(council(1))
  })
})
