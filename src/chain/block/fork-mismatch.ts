import { CodedError } from '@tandem/base/errors.ts'
import { forkHeight } from '../../config/forks.ts'
import type { ChainParams } from '../../config/networks.ts'

/** The committee of this network decided a proof header that this node's rules refuse by its version alone. */
type ForkMismatchError = {
  readonly code: 'FORK_MISMATCH'
  readonly fork: 'nativeHash'
  /** Fork height of this node. */
  readonly height: number | null
  readonly reason: string
}

/** Error of a node whose rules lack a fork of the committee, or have it at another height. */
export const forkMismatch = (
  { forks }: Pick<ChainParams, 'forks'>,
  cause: CodedError,
): CodedError<ForkMismatchError> => {
  const height = forkHeight(forks, 'nativeHash')
  return new CodedError<ForkMismatchError>(
    { code: 'FORK_MISMATCH', fork: 'nativeHash', height, reason: cause.message },
    { cause },
  )
}
