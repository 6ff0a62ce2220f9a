import type { SenderCode } from '../rules/transaction.ts'
import type { Hex } from '../util/bytes.ts'
import type { Nonce } from '../util/uint64.ts'

/** Account reads of the head's state; synchronous. Unknown accounts return zero. */
export interface AccountReader {
  nonce(address: Hex): Nonce
  /** Wei. */
  balance(address: Hex): bigint
  /** Omitted: not checked. */
  code?(address: Hex): SenderCode
}
