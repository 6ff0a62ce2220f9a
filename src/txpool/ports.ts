import type { Hex } from '../util/bytes.ts'
import type { Nonce } from '../util/nonce.ts'

/** How a transaction overran while a block was built: after how long, and whether it had all the time that one may take. */
export interface PoolOverrun {
  readonly ranMs: number
  readonly isProven: boolean
}

/** What the pool reads of the head's state; synchronous. Unknown accounts answer zero. */
export interface AccountReader {
  nonce(address: Hex): Nonce
  /** Wei. */
  balance(address: Hex): bigint
  /** True for a contract; an EIP-7702 delegation is no contract (EIP-3607). Left out: not checked. */
  hasCode?(address: Hex): boolean
}
