import type { Hex } from '@tandem/base/bytes.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { Council } from '../../../chain/council/council.ts'
import { type ChainParams, COUNCIL_ADDRESS } from '../../../config/networks.ts'
import { endsCycle } from '../../../rules/council/cycle.ts'

/**
 * Logs the status of this node's validator when it is not voting: a wrong key shows at once, and a newly registered validator
 * has to wait until it serves.
 */
export const reportValidatorStatus = (
  validator: Hex,
  council: Pick<Council, 'memberStatuses'>,
  { number, logger }: { readonly number: number; readonly logger: Logger },
): void => {
  const councilMemberStatus = council.memberStatuses(number)?.find(member => member.validator === validator)
  if (councilMemberStatus === undefined)
    logger.warn(
      { validator, number, contract: COUNCIL_ADDRESS },
      'the validator is not in the council of this block: following the chain until it is registered and its cycle has come (docs/council.md)',
    )
  else if (councilMemberStatus.status === 'jailed')
    logger.error(
      { validator, number },
      'the validator is jailed: it signed contradicting or invalid messages, and its key will not be drawn again (docs/council.md)',
    )
  else
    logger.debug(
      { validator, number, name: councilMemberStatus.name, status: councilMemberStatus.status },
      'validator status',
    )
}

/**
 * Returns a function to call with each height that opens. It warns at the start and in the first height of a cycle when the committee is a
 * sample of a larger council, once for each size of the council.
 */
export const samplingReporter = (
  council: Pick<Council, 'memberStatuses' | 'committee'>,
  { rewards }: Pick<ChainParams, 'rewards'>,
  logger: Logger,
): ((number: number) => void) => {
  let reported: number | undefined
  return number => {
    if (reported !== undefined && !endsCycle(number - 1, rewards.cycleBlocks)) return
    const members = council.memberStatuses(number)?.filter(({ status }) => status === 'active').length ?? 0
    const committee = council.committee(number)?.members.length ?? members
    if (members > committee && members !== reported)
      logger.warn(
        { number, members, committee },
        'the council is larger than its committee: each cycle draws a sample, which can have more than f faulty members by chance (docs/design/council.md)',
      )
    reported = members
  }
}
