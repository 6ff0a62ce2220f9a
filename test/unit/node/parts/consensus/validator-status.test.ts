import type { Hex } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import type { CouncilMemberStatus } from '../../../../../src/chain/store/types.ts'
import { NETWORKS } from '../../../../../src/config/networks.ts'
import { reportedCommittee, reportValidatorStatus } from '../../../../../src/node/parts/consensus/validator-status.ts'

const address = (digit: string): Hex => `0x${digit.repeat(40)}`
const [validator, owner] = [address('1'), address('2')]

test.each([
  ['no member', undefined, 'warn', /not in the council/],
  ['a jailed member', 'jailed', 'error', /is jailed/],
  ['an inactive member', 'inactive', 'debug', /validator status/],
  ['an active member', 'active', 'debug', /validator status/],
] as const)('%s is told so', (_, status, level, text) => {
  const told: string[] = []
  const logger = { ...silentLogger, [level]: (_: object, message: string) => void told.push(message) }
  const seat = (who: Hex): CouncilMemberStatus => ({
    name: 'One',
    validator: who,
    owner,
    reward: owner,
    admission: 1,
    stakeWei: 1n,
    status: status ?? 'active',
  })
  reportValidatorStatus(
    validator,
    { memberStatuses: () => [seat(status === undefined ? owner : validator)] },
    { number: 5, logger },
  )
  expect(told).toEqual([expect.stringMatching(text)])
})

test('a council that its committee does not hold is told at the start, and when its size changes in a new cycle', () => {
  const told: object[] = []
  const logger = { ...silentLogger, warn: (facts: object) => void told.push(facts) }
  let size = 40
  const council = {
    memberStatuses: () => Array.from({ length: size }, () => ({ status: 'active' }) as CouncilMemberStatus),
    committee: () => ({ members: Array<Hex>(Math.min(size, 31)).fill(validator) }),
  }
  const port = reportedCommittee(council, { rewards: NETWORKS.devnet.rewards }, logger)
  for (let number = 5; number <= 190; number++) {
    if (number === 100) size = 200
    if (number === 150) size = 31
    expect(port.committee(number)).toEqual(council.committee())
  }
  expect(told).toEqual([
    { number: 5, members: 40, committee: 31, tolerated: 10 },
    { number: 121, members: 200, committee: 31, tolerated: 16 },
  ])
})
