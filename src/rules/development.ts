import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { ChainParams } from '../config/networks.ts'
import { impersonatedSender } from '../primitives/transaction/impersonation.ts'
import type { DecodedTransaction } from '../primitives/transaction/transaction.ts'

/**
 * Permission for operations that only a development chain allows: reverting blocks, editing state, choosing header fields, senders
 * without a key (docs/dev-helpers.md). Code for them requires one, and only the parameters of such a chain give it.
 */
export class DevelopmentRules {
  private constructor() {}

  /** Returns null on every other chain. */
  static of({ devHelpers }: Pick<ChainParams, 'devHelpers'>): DevelopmentRules | null {
    return devHelpers ? new DevelopmentRules() : null
  }

  /** Asserts that a value is such a permission, for callers that bypass the types. */
  static check(value: DevelopmentRules): void {
    assert(value instanceof DevelopmentRules, 'only a development chain does this')
  }
}

/** Returns the sender that an unsigned transaction names; undefined: an ordinary transaction, or a chain without such senders. */
export const impersonatedSenderOn = (
  { devHelpers }: Pick<ChainParams, 'devHelpers'>,
  tx: Pick<DecodedTransaction, 'r' | 's'>,
): Hex | undefined => (devHelpers ? impersonatedSender(tx) : undefined)
