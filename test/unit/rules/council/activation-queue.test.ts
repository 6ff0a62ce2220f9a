import type { Hex } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { activatedMembers, activateMembers, activationLimit } from '../../../../src/rules/council/activation-queue.ts'
import { quorumOf } from '../../../../src/rules/council/quorum.ts'
import type { Inactivity } from '../../../../src/rules/council/validator-activity.ts'

const keyOf = (admission: number): Hex => `0x${admission.toString(16).padStart(40, '0')}`
const members = (...admissions: readonly number[]) =>
  admissions.map(admission => ({ validator: keyOf(admission), admission }))
const keys = (...admissions: readonly number[]): ReadonlySet<Hex> => new Set(admissions.map(keyOf))

interface Given {
  readonly before: readonly number[]
  readonly queuedBefore?: readonly number[]
  readonly unprovenBefore?: readonly number[]
  readonly now: readonly number[]
  readonly sealed?: readonly number[]
  readonly jailed?: readonly number[]
  readonly committeeSize?: number
  readonly lapses?: Readonly<Record<number, Inactivity>>
}

const activate = (given: Given) => {
  const {
    committeeSize = 31,
    before,
    queuedBefore = [],
    unprovenBefore = [],
    now,
    sealed = [],
    jailed = [],
    lapses = {},
  } = given
  return activateMembers({
    number: 600,
    registered: members(...now),
    before: { members: members(...before), queued: keys(...queuedBefore), unproven: keys(...unprovenBefore) },
    validatorRecord: {
      jailed: keys(...jailed),
      lapses: new Map(Object.entries(lapses).map(([admission, lapse]) => [keyOf(Number(admission)), lapse])),
    },
    hasSealed: validator => keys(...sealed).has(validator),
    committeeSize,
  })
}
const queuedAfter = (given: Given) => activate(given).queued

const SILENT: Inactivity = { silentBlocks: 60, outUntil: 0 }
const OUT: Inactivity = { silentBlocks: 600, outUntil: 1_200 }

const limitOf = (serving: number, heard: number, committeeSize = 256) =>
  activationLimit({ serving, heard, waiting: 256, committeeSize })

test('as many begin as leave those that sealed a quorum', () => {
  for (let serving = 1; serving <= 128; serving++)
    for (let heard = 0; heard <= serving; heard++) {
      const limit = limitOf(serving, heard)
      if (limit > 0) expect(heard, `${serving} ${heard}`).toBeGreaterThanOrEqual(quorumOf(serving + limit))
      expect(heard, `${serving} ${heard}`).toBeLessThan(quorumOf(serving + limit + 1))
    }
  expect([2, 3, 4, 5, 6, 7, 10, 31].map(size => limitOf(size, size))).toEqual([1, 1, 2, 2, 3, 3, 5, 15])
})

test('members wait in the order of admission, whatever their place in the council', () => {
  expect(queuedAfter({ before: [1, 2, 3, 4, 5], now: [1, 9, 2, 7, 3, 8, 4, 6, 5] })).toEqual(keys(8, 9))
})

test('those that waited are ahead of those admitted since; members that left wait no more', () => {
  const before = { before: [1, 2, 3, 4, 5, 6, 7], queuedBefore: [6, 7] }
  expect(queuedAfter({ ...before, now: [1, 2, 3, 4, 5, 7, 8, 9] })).toEqual(keys(9))
  expect(queuedAfter({ ...before, now: [1, 2, 3, 4, 5, 7] })).toEqual(keys())
})

test('a new member is unproven until its first seal, and none counts on it before', () => {
  expect(activate({ before: [1, 2, 3, 4], now: [1, 2, 3, 4, 5, 6, 7] })).toEqual({
    queued: keys(7),
    unproven: keys(5, 6),
  })
  const serving = {
    before: [1, 2, 3, 4, 5, 6, 7],
    queuedBefore: [7],
    unprovenBefore: [5, 6],
    now: [1, 2, 3, 4, 5, 6, 7],
  }
  expect(activate(serving)).toEqual({ queued: keys(7), unproven: keys(5, 6) })
  expect(activate({ ...serving, sealed: [1, 2, 3, 4, 6] })).toEqual({ queued: keys(), unproven: keys(5, 7) })
})

describe('one begins where the others are not enough', () => {
  test('beside a lone validator', () => {
    expect(queuedAfter({ before: [1], now: [1, 2, 3] })).toEqual(keys(3))
  })

  test('in a council with a dead member', () => {
    for (const lapse of [SILENT, OUT])
      expect(queuedAfter({ before: [1, 2, 3, 4], now: [1, 2, 3, 4, 5, 6], lapses: { 4: lapse } })).toEqual(keys(6))
  })

  test('but none while a member is unproven', () => {
    expect(queuedAfter({ before: [1, 2], unprovenBefore: [2], now: [1, 2, 3] })).toEqual(keys(3))
  })

  test('where all that served have left', () => {
    expect(queuedAfter({ before: [1], now: [2, 3, 4] })).toEqual(keys(3, 4))
  })
})

test('jailed members are not heard, and never wait', () => {
  expect(queuedAfter({ before: [1, 2, 3, 4, 5], now: [1, 2, 3, 4, 5, 6, 7], jailed: [2] })).toEqual(keys())
  expect(queuedAfter({ before: [1, 2, 3, 4, 5], now: [1, 2, 3, 4, 5, 6, 7, 8], jailed: [2] })).toEqual(keys(8))
})

test('a validator that left and was admitted again waits like a new one', () => {
  const again = { admission: 6, validator: keyOf(2) }
  const { queued } = activateMembers({
    number: 600,
    registered: [...members(1, 3, 4, 5), again],
    before: { members: members(1, 2, 3, 4), queued: keys(), unproven: keys() },
    validatorRecord: { lapses: new Map(), jailed: keys() },
    hasSealed: () => true,
    committeeSize: 31,
  })
  expect(queued).toEqual(new Set([again.validator]))
})

test('the activated members are those that do not wait', () => {
  expect(activatedMembers({ members: members(1, 2, 3), queued: keys(2) })).toEqual(members(1, 3))
})
