import type { SenderCode } from '../rules/transaction.ts'
import type { Hex } from '../util/bytes.ts'
import type { Nonce } from '../util/uint64.ts'

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
  /** Omitted: not checked. */
  code?(address: Hex): SenderCode
}
