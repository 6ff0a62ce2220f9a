import { expect, test } from 'vitest'
import type { CouncilMemberStatus } from '../../../../../src/chain/types.ts'
import { reportValidatorStatus } from '../../../../../src/node/parts/consensus/validator-status.ts'
import type { Hex } from '../../../../../src/util/bytes.ts'
import { silentLogger } from '../../../../../src/util/logger.ts'

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
