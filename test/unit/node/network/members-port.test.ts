import type { Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import type { CouncilMemberStatus } from '../../../../src/chain/store/types.ts'
import { membersPort } from '../../../../src/node/network/node-peers.ts'

const addressOf = (digit: number): Hex => `0x${String(digit).repeat(40)}`
const seat = (digit: number) => ({ validator: addressOf(digit) }) as CouncilMemberStatus

/** Heights below 10 are served by 1 and 2, the others by 2 and 3; nothing is known beyond 20. */
const council = {
  asked: 0,
  memberStatuses(number: number) {
    this.asked++
    if (number > 20) return undefined
    return number < 10 ? [seat(1), seat(2)] : [seat(2), seat(3)]
  },
  committee: (number: number) =>
    number > 20 ? undefined : { members: number < 10 ? [addressOf(1), addressOf(2)] : [addressOf(2), addressOf(3)] },
}

test('the councils of the open height and of those beside it may speak', () => {
  let head = 5
  const port = membersPort(
    council,
    () => head,
    () => {},
  )
  const members = () => [1, 2, 3].filter(digit => port.isMember(addressOf(digit)))
  expect(members()).toEqual([1, 2])
  head = 8
  expect(members()).toEqual([1, 2, 3])
  head = 9
  expect(members()).toEqual([1, 2, 3])
  head = 10
  expect(members()).toEqual([2, 3])
  // A committee that is not known yet adds no members.
  head = 20
  expect(members()).toEqual([2, 3])
})

test('who is jailed may speak only while it serves', () => {
  const seats = [
    seat(1),
    { ...seat(2), status: 'jailed' },
    { ...seat(3), status: 'jailed' },
  ] as readonly CouncilMemberStatus[]
  const port = membersPort(
    { memberStatuses: () => seats, committee: () => ({ members: [addressOf(1), addressOf(3)] }) },
    () => 3,
    () => {},
  )
  expect([1, 2, 3].filter(digit => port.isMember(addressOf(digit)))).toEqual([1, 3])
})

test('councils are gathered once for each head', () => {
  const port = membersPort(
    council,
    () => 3,
    () => {},
  )
  council.asked = 0
  for (let message = 0; message < 100; message++) port.isMember(addressOf(1))
  expect(council.asked).toBe(3)
})

test('members of a committee by their index', () => {
  const port = membersPort(
    council,
    () => 3,
    () => {},
  )
  expect(port.memberAt(4, 1)).toBe(addressOf(2))
  expect(port.memberAt(11, 1)).toBe(addressOf(3))
  expect(port.memberAt(4, 2)).toBeUndefined()
  expect(port.memberAt(21, 0)).toBeUndefined()
})
