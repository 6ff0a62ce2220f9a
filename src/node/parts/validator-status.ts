import type { Council } from '../../chain/council/council.ts'
import { COUNCIL_ADDRESS } from '../../config/networks.ts'
import type { Hex } from '../../util/bytes.ts'
import type { Logger } from '../../util/logger.ts'

/**
 * Tells the operator where a validator stands that decides nothing: whoever starts with a wrong key wants to know it, and whoever
 * was just registered that it takes a while.
 */
export const reportSeat = (
  validator: Hex,
  council: Pick<Council, 'seats'>,
  { number, logger }: { readonly number: number; readonly logger: Logger },
): void => {
  const seat = council.seats(number)?.find(member => member.validator === validator)
  if (seat === undefined)
    logger.warn(
      { validator, number, contract: COUNCIL_ADDRESS },
      'the validator is not in the council of this block: following the chain until it is registered and its cycle has come (docs/council.md)',
    )
  else if (seat.standing === 'jailed')
    logger.error(
      { validator, number },
      'the validator is jailed: it signed what no honest member signs, and its key will not be drawn again (docs/council.md)',
    )
  else logger.debug({ validator, number, name: seat.name, standing: seat.standing }, 'seat in the council')
}
