import type { Hex } from '../util/bytes.ts'
import type { Nonce } from '../util/nonce.ts'

/**
 * Overrun of a transaction while a block was built: the time it ran, and whether it had the maximum time for one
 * transaction.
 */
export interface PoolOverrun {
  readonly ranMs: number
  readonly isProven: boolean
}

/** Account reads of the head's state; synchronous. Unknown accounts return zero. */
export interface AccountReader {
  nonce(address: Hex): Nonce
  /** Wei. */
  balance(address: Hex): bigint
  /** True for a contract; an EIP-7702 delegation does not count (EIP-3607). Omitted: not checked. */
  hasCode?(address: Hex): boolean
}
