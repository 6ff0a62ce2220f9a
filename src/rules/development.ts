import type { ChainParams } from '../config/networks.ts'
import { impersonatedSender } from '../primitives/impersonation.ts'
import type { DecodedTransaction } from '../primitives/transaction.ts'
import { assert } from '../util/assert.ts'
import type { Hex } from '../util/bytes.ts'

/**
 * Permission for what only a development chain does: blocks taken back, state edited, fields of headers chosen, senders without a key
 * (docs/dev-helpers.md). Code that does so asks for one, and only the parameters of such a chain give it.
 */
export class DevelopmentRules {
  private constructor() {}

  /** Returns null on every other chain. */
  static of({ devHelpers }: Pick<ChainParams, 'devHelpers'>): DevelopmentRules | null {
    return devHelpers ? new DevelopmentRules() : null
  }

  /** Asserts that a value is such a permission, for callers that went past the types. */
  static check(value: DevelopmentRules): void {
    assert(value instanceof DevelopmentRules, 'only a development chain does this')
  }
}

/** Sender that a transaction names without a signature; undefined: an ordinary transaction, or a chain that has no such senders. */
export const impersonatedSenderOn = (
  { devHelpers }: Pick<ChainParams, 'devHelpers'>,
  tx: Pick<DecodedTransaction, 'r' | 's'>,
): Hex | undefined => (devHelpers ? impersonatedSender(tx) : undefined)
