import type { Hex } from '@tandem/base/bytes.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { Council } from '../../../chain/council/council.ts'
import { type ChainParams, COUNCIL_ADDRESS } from '../../../config/networks.ts'
import type { CommitteePort } from '../../../consensus/ports.ts'
import { endsCycle } from '../../../rules/council/cycle.ts'
import { toleratedFaults } from '../../../rules/council/quorum.ts'

/** Logs the status of a validator that is not voting: a wrong key shows at once, and a new validator waits until it serves. */
export const reportValidatorStatus = (
  validator: Hex,
  council: Pick<Council, 'memberStatuses'>,
  { number, logger }: { readonly number: number; readonly logger: Logger },
): void => {
  const member = council.memberStatuses(number)?.find(known => known.validator === validator)
  if (member === undefined)
    logger.warn(
      { validator, number, contract: COUNCIL_ADDRESS },
      'the validator is not in the council of this block: following the chain until it is registered and its cycle has come (docs/council.md)',
    )
  else if (member.status === 'jailed')
    logger.error(
      { validator, number },
      'the validator is jailed: it signed contradicting or invalid messages, and its key will not be drawn again (docs/council.md)',
    )
  else logger.debug({ validator, number, name: member.name, status: member.status }, 'validator status')
}

/** Port of the committees that warns of a sample of a larger council, at the start and in cycles, once for each size. */
export const reportedCommittee = (
  council: Pick<Council, 'memberStatuses' | 'committee'>,
  { rewards }: Pick<ChainParams, 'rewards'>,
  logger: Logger,
): CommitteePort => {
  let [highest, reported] = [0, 0]
  return {
    committee(number) {
      const committee = council.committee(number)
      const isDue = number > highest && (highest === 0 || endsCycle(number - 1, rewards.cycleBlocks))
      highest = Math.max(highest, number)
      if (committee === undefined || !isDue) return committee
      const { length: size } = committee.members
      const members = council.memberStatuses(number)?.filter(({ status }) => status === 'active').length ?? 0
      if (members > size && members !== reported)
        logger.warn(
          { number, members, committee: size, tolerated: toleratedFaults(members, size) },
          'the council is larger than its committee: with more faulty or offline members than `tolerated`, the sample of a cycle has more than f of them by chance, more than once in a million cycles (docs/design/council.md#sampling)',
        )
      reported = members
      return committee
    },
  }
}
