import type { Hex } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { certificateFromSigners } from '../../../../src/primitives/consensus/certificate.ts'
import {
  countTurns,
  type Idleness,
  nextIdleMembers,
  proposerIndex,
  restingMembers,
} from '../../../../src/rules/council/proposer-turns.ts'
import { settledMembers } from '../../../support/consensus/eligible.ts'

const keyOf = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`
const council = (size: number): readonly Hex[] => Array.from({ length: size }, (_, index) => keyOf(index))
/** Block of a committee of four, made by a member and decided in a round. */
const decided = (number: number, proposer: number, round: number, proposers = 4) => ({
  number,
  proposer: keyOf(proposer),
  committee: { members: council(4), proposers },
  certificate: certificateFromSigners(round, 4, new Map()),
})

test('the first members of a committee take turns, and each round has another of them', () => {
  const committee = { members: council(4), proposers: 3 }
  expect([0, 1, 2, 3].map(round => proposerIndex(committee, 4, round))).toEqual([1, 2, 0, 1])
  expect([0, 1, 2, 3].map(round => proposerIndex({ members: council(4) }, 4, round))).toEqual([0, 1, 2, 3])
})

describe('turns', () => {
  test('of the rounds up to the decision, those without the block are missed', () => {
    expect(countTurns([decided(4, 0, 0), decided(5, 2, 1), decided(6, 2, 0)])).toEqual(
      new Map([
        [keyOf(0), { taken: 1, missed: 0 }],
        [keyOf(1), { taken: 0, missed: 1 }],
        [keyOf(2), { taken: 2, missed: 0 }],
      ]),
    )
  })

  test('a block that a later round decides counts for its maker and for the proposer of that round', () => {
    expect([...countTurns([decided(4, 0, 1)]).values()]).toEqual([
      { taken: 1, missed: 0 },
      { taken: 1, missed: 0 },
    ])
  })

  test('a height that needs more than f rounds accuses nobody', () => {
    expect(countTurns([decided(4, 2, 2)]).size).toBe(0)
  })
})

describe('an idle member', () => {
  const rated = (before: Idleness | undefined, taken: number, missed: number, number = 60) =>
    nextIdleMembers(
      council(1),
      new Map(before === undefined ? [] : [[keyOf(0), before]]),
      new Map([[keyOf(0), { taken, missed }]]),
      { number, cycleBlocks: 60 },
    ).get(keyOf(0))

  test('has missed a third of its turns or more', () => {
    expect([rated(undefined, 2, 1), rated(undefined, 10, 5), rated(undefined, 0, 1)]).toMatchObject(
      Array(3).fill({ strikes: 1 }),
    )
    expect([rated(undefined, 3, 1), rated(undefined, 11, 4), rated(undefined, 1, 0)]).toEqual(Array(3).fill(undefined))
  })

  test('rests from the cycle after the next on, twice as long each time, up to 32 cycles', () => {
    expect(rated(undefined, 0, 1)).toEqual({ strikes: 1, restsUntil: 180 })
    expect(rated({ strikes: 1, restsUntil: 180 }, 0, 1, 120)).toEqual({ strikes: 2, restsUntil: 300 })
    for (const strikes of [5, 6])
      expect(rated({ strikes, restsUntil: 0 }, 0, 1, 600)).toEqual({ strikes: 6, restsUntil: 2_580 })
  })

  test('keeps its record without turns, and has none after a cycle in which it took them', () => {
    const idleness = { strikes: 3, restsUntil: 300 }
    expect(rated(idleness, 0, 0)).toEqual(idleness)
    expect(rated(idleness, 2, 0)).toBeUndefined()
  })
})

describe('who does not propose', () => {
  const committee = (size: number, idle: Readonly<Record<number, Idleness>>, silent: readonly number[] = []) =>
    settledMembers(council(size)).map((member, at) => ({
      ...member,
      isHeard: !silent.includes(at),
      idleness: idle[at],
    }))
  const resting = (...given: Parameters<typeof committee>) => [...restingMembers(committee(...given), 601)].map(Number)

  test('members that did not seal in the last cycle they served, and idle ones while their rest lasts', () => {
    const idle = { 3: { strikes: 1, restsUntil: 660 }, 4: { strikes: 1, restsUntil: 600 } }
    expect(resting(7, idle, [6])).toEqual([6, 3])
  })

  test('a quorum proposes in any case, those with the most strikes rest', () => {
    const idle = Object.fromEntries([0, 1, 2, 3].map(at => [at, { strikes: at + 1, restsUntil: 660 }]))
    expect(resting(7, idle)).toEqual([3, 2])
    expect(resting(1, { 0: { strikes: 6, restsUntil: 660 } })).toEqual([])
  })

  test('few return at once, those with the fewest strikes first', () => {
    const idle = Object.fromEntries([0, 1, 2].map(at => [at, { strikes: at + 1, restsUntil: 60 }]))
    expect(resting(10, idle)).toEqual([2, 1])
  })
})
