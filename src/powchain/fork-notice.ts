import type { Logger } from '@tandem/base/logger.ts'
import { forkHeight } from '../config/forks.ts'
import type { ChainParams } from '../config/networks.ts'

/** Headers before the fork from which on operators are warned. */
const FORK_NOTICE_HEADERS = 1_000
/** Headers between two warnings; each of the last few gets one. */
const NOTICE_STEP = 100
const LAST_NOTICES = 10

/** State of the fork `nativeHash` as seen from a final proof tip. */
interface ForkNotice {
  readonly forkHeight: number
  /** Headers still to come under the old rules. */
  readonly remaining: number
}

/** Notice due at the final tip; undefined: none. `atStart`: wherever the fork is near. Without proof headers no fork comes. */
export const forkNoticeAt = (
  { forks }: Pick<ChainParams, 'forks'>,
  tipHeight: number,
  atStart = false,
): ForkNotice | undefined => {
  const height = forkHeight(forks, 'nativeHash')
  // A fork at genesis or at the first header changes nothing for miners.
  if (height === null || height <= 1 || tipHeight === 0) return undefined
  const remaining = height - 1 - tipHeight
  if (remaining < 0 || remaining > FORK_NOTICE_HEADERS) return undefined
  const isDue = atStart || remaining % NOTICE_STEP === 0 || remaining <= LAST_NOTICES
  return isDue ? { forkHeight: height, remaining } : undefined
}

/**
 * Warns of the fork of the proof chain's hash function as it comes near, and tells when it is in force. Returns the function to call with
 * each main block and the height of the final tip after it.
 */
export const watchFork = (params: ChainParams, tipHeight: number, logger: Logger) => {
  const { devHelpers, forks, proofChain } = params
  let lastHeight = tipHeight
  const tell = (notice: ForkNotice | undefined, height: number): void => {
    if (notice === undefined) return
    // A development chain mines with this program, and comes to the fork within minutes.
    logger[devHelpers ? 'debug' : 'warn'](
      { ...notice, height, from: proofChain.before, to: proofChain.after },
      'fork nativeHash is near: miners need a program that knows the new hash function; older work is not accepted after it',
    )
  }

  tell(forkNoticeAt(params, tipHeight, true), tipHeight)
  return (number: number, tipHeight: number): void => {
    for (let height = lastHeight + 1; height <= tipHeight; height++) {
      tell(forkNoticeAt(params, height), height)
      if (forkHeight(forks, 'nativeHash') === height)
        logger.info(
          { forkHeight: height, activatedAtMainBlock: number, algorithm: proofChain.after },
          'fork nativeHash is in force',
        )
    }
    lastHeight = tipHeight
  }
}
