import type { Hex } from '@tandem/base/bytes.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import type { SenderCode } from '../../rules/transaction.ts'

/** Account reads of the head's state; synchronous. Unknown accounts return zero. */
export interface AccountReader {
  nonce(address: Hex): Nonce
  /** Wei. */
  balance(address: Hex): bigint
  /** Omitted: not checked. */
  code?(address: Hex): SenderCode
}
