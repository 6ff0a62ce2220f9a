import type { Council } from '../../../chain/council/council.ts'
import { COUNCIL_ADDRESS } from '../../../config/networks.ts'
import type { Hex } from '../../../util/bytes.ts'
import type { Logger } from '../../../util/logger.ts'

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
