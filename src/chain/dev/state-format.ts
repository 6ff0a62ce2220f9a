import { CodedError } from '@tandem/base/errors.ts'
import { DEV_LIMITS } from '../../config/limits/chain.ts'

/*
 * State as one value to dump and load, in the form that anvil reads and writes; its own fields are left out by the other side.
 *   { "format": "tandem/state/1", "number", "timestamp",
 *     "accounts": { "<address>": { "nonce", "balance", "code", "storage": { "<slot>": word } } },
 *     "block", "best_block_number", "blocks": the head for anvil }
 * Accounts and slots whose preimages this node never kept are named by their keccak256, which only this node reads.
 */

export const STATE_FORMAT = 'tandem/state/1'

export type StateFileError =
  | { readonly code: 'STATE_MALFORMED'; readonly reason: string }
  | { readonly code: 'STATE_TOO_LARGE'; readonly limitBytes: number }

export const stateTooLarge = () =>
  new CodedError<StateFileError>({ code: 'STATE_TOO_LARGE', limitBytes: DEV_LIMITS.stateBytes })
export const stateMalformed = (reason: string) => new CodedError<StateFileError>({ code: 'STATE_MALFORMED', reason })
