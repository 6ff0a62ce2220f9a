import type { Hex } from '@tandem/base/bytes.ts'
import type { TransactionFormError, TransactionSenderStateError } from '../../rules/transaction.ts'

/**
 * Reason why a transaction was refused; thrown as `CodedError<PoolError>`. Validity is that of rules/transaction.ts, the rest is policy. Listed
 * in the order of the checks: the first failing one is reported. `rpc/errors.ts` makes the client's text, all with JSON-RPC code -32000.
 * Clients match these texts (docs/interface.md#errors, docs/design/pool.md#checks).
 *
 * | code | text |
 * |---|---|
 * | ALREADY_KNOWN | `already known` |
 * | TYPE_UNSUPPORTED | `transaction type not supported` |
 * | NO_AUTHORIZATIONS | `set code tx must have at least one authorization tuple` |
 * | NO_BLOBS, BLOB_VERSION_UNKNOWN, TOO_MANY_BLOBS | as they are named |
 * | INIT_CODE_TOO_LARGE | `max initcode size exceeded: code size <size> limit <limit>` |
 * | GAS_LIMIT_TOO_HIGH | `exceeds block gas limit` |
 * | GAS_CAP_EXCEEDED | `transaction gas limit too high (cap: <limit>, tx: <have>)` |
 * | PROTECTED_TOO_EARLY | `replay-protected (EIP-155) transactions are not in force yet` |
 * | INVALID_CHAIN_ID | `invalid chain id for signer: have <have> want <want>` |
 * | UNPROTECTED | `only replay-protected (EIP-155) transactions allowed over RPC` |
 * | TIP_ABOVE_FEE_CAP | `max priority fee per gas higher than max fee per gas` |
 * | UNDERPRICED | `transaction underpriced: gas price <gotWei> wei is below the minimum of <minWei> wei` |
 * | OVERSIZED | `oversized data` |
 * | INVALID_SENDER | `invalid sender` |
 * | SENDER_NOT_EOA | `sender not an eoa` |
 * | NONCE_MAX | `nonce has max value` |
 * | NONCE_TOO_LOW | `nonce too low` |
 * | INSUFFICIENT_FUNDS | `insufficient funds for gas * price + value` |
 * | INTRINSIC_GAS | `intrinsic gas too low` |
 * | REPLACEMENT_UNDERPRICED | `replacement transaction underpriced` |
 * | POOL_FULL | `txpool is full` |
 * | DELEGATED_IN_FLIGHT | `in-flight transaction limit reached for delegated accounts` |
 * | DELEGATED_NONCE_GAP | `gapped-nonce tx from delegated accounts` |
 * | AUTHORITY_RESERVED | `authority already reserved` |
 * | JOURNAL_FAILED | `the node cannot write it to its disk: mend that, then send it again` |
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
