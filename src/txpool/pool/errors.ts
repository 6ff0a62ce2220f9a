import type { Hex } from '@tandem/base/bytes.ts'
import type { TransactionFormError, TransactionSenderStateError } from '../../rules/transaction.ts'

/**
 * Reason why a transaction was refused; thrown as `CodedError<PoolError>`. Validity is that of rules/transaction.ts, the rest is policy. The
 * first failing check is reported (docs/design/pool.md#checks); `rpc/errors.ts` makes the client's text, all with JSON-RPC code -32000.
 */
export type PoolError = TransactionFormError | TransactionSenderStateError | PoolPolicyError

/** Errors of this pool's policy, beyond the rules of the chain. */
type PoolPolicyError =
  | { readonly code: 'ALREADY_KNOWN'; readonly hash: Hex }
  | { readonly code: 'UNPROTECTED' }
  /** `minWei` is the lowest price accepted now: the larger of the network's floor and the next block's base fee. */
  | { readonly code: 'UNDERPRICED'; readonly gotWei: bigint; readonly minWei: bigint }
  | { readonly code: 'OVERSIZED'; readonly sizeBytes: number; readonly limitBytes: number }
  | { readonly code: 'INVALID_SENDER' }
  /** Smallest fee fields that allow the replacement. */
  | { readonly code: 'REPLACEMENT_UNDERPRICED'; readonly minFeeWei: bigint; readonly minTipWei: bigint }
  /** `account`: the sender has too many transactions queued behind a nonce gap; otherwise the whole pool has no room at this price. */
  | { readonly code: 'POOL_FULL'; readonly scope: 'pending' | 'queued' | 'account'; readonly limit: number }
  /** The sender delegates, or a pooled transaction makes it (EIP-7702): it may have one transaction, of its next nonce. */
  | { readonly code: 'DELEGATED_IN_FLIGHT' }
  | { readonly code: 'DELEGATED_NONCE_GAP' }
  /** An authority of a set-code transaction has several transactions in the pool. */
  | { readonly code: 'AUTHORITY_RESERVED'; readonly authority: Hex }
  /** The disk write failed; the transaction is pooled but would not survive a restart. */
  | { readonly code: 'JOURNAL_FAILED' }
