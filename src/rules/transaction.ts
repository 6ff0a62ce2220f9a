import type { Hex } from '@tandem/base/bytes.ts'
import { MAX_UINT64, type Nonce } from '@tandem/base/uint64.ts'
import type { ChainParams } from '../config/networks.ts'
import { BLOCK_BOUNDS } from '../config/protocol-bounds.ts'
import type { DecodedTransaction, Transaction } from '../primitives/transaction/transaction.ts'
import { impersonatedSenderOn } from './development.ts'
import type { ExecutionRules } from './execution-rules.ts'
import { minimumGas } from './intrinsic-gas.ts'
import { maxBlobFee } from './money/blob-fee.ts'

/*
 * Validity of one transaction: the only place of these rules, for blocks, the pool and simulated calls. Each check returns the broken
 * rule, or undefined. The callers choose the order: go-ethereum's in a block, docs/design/pool.md#checks in the pool.
 */

/** Errors visible in the bytes alone, given the fork and the limits of the block. */
export type TransactionFormError =
  | { readonly code: 'TYPE_UNSUPPORTED'; readonly type: number }
  | { readonly code: 'INVALID_CHAIN_ID'; readonly have: number; readonly want: number }
  /** Includes a chain id before that is allowed (EIP-155). */
  | { readonly code: 'PROTECTED_TOO_EARLY' }
  | { readonly code: 'NO_AUTHORIZATIONS' }
  | { readonly code: 'NO_BLOBS' }
  | { readonly code: 'BLOB_VERSION_UNKNOWN'; readonly hash: Hex }
  | { readonly code: 'TOO_MANY_BLOBS'; readonly have: number; readonly limit: number }
  | { readonly code: 'INIT_CODE_TOO_LARGE'; readonly size: number; readonly limit: number }
  /** Above the block's gas limit. */
  | { readonly code: 'GAS_LIMIT_TOO_HIGH'; readonly have: bigint; readonly limit: bigint }
  /** Above the fork's cap on one transaction (EIP-7825). */
  | { readonly code: 'GAS_CAP_EXCEEDED'; readonly have: bigint; readonly limit: bigint }
  | { readonly code: 'TIP_ABOVE_FEE_CAP'; readonly tip: bigint; readonly cap: bigint }
  | { readonly code: 'INTRINSIC_GAS'; readonly have: bigint; readonly want: bigint }

/** Errors of the sender's account state. */
export type TransactionSenderStateError =
  | { readonly code: 'SENDER_NOT_EOA'; readonly address: Hex }
  | { readonly code: 'NONCE_TOO_LOW'; readonly expected: Nonce; readonly got: Nonce }
  | { readonly code: 'NONCE_MAX' }
  | { readonly code: 'INSUFFICIENT_FUNDS'; readonly have: bigint; readonly want: bigint }

/** Errors at one position of one block: the transaction may be valid in another one. */
type TransactionPlaceError =
  | { readonly code: 'NONCE_TOO_HIGH'; readonly expected: Nonce; readonly got: Nonce }
  | { readonly code: 'FEE_BELOW_BASE_FEE'; readonly have: bigint; readonly want: bigint }
  | { readonly code: 'BLOB_FEE_TOO_LOW'; readonly have: bigint; readonly want: bigint }
  /** Gas and blobs against the remainder of the block. */
  | { readonly code: 'BLOCK_GAS_EXCEEDED'; readonly have: bigint; readonly limit: bigint }
  | { readonly code: 'BLOCK_BLOBS_EXCEEDED'; readonly have: number; readonly limit: number }

/** Reason why a transaction is invalid at its position of a block. */
export type TransactionError = TransactionFormError | TransactionSenderStateError | TransactionPlaceError

/** Block values that the validity of its transactions depends on. */
export interface TransactionBlock {
  readonly params: ChainParams
  readonly gasLimit: bigint
  /** Omitted: the chain has no blobs. */
  readonly blobs?: { readonly maxPerBlock: number } | undefined
}

/** Code of a sender: none, that of a contract, or a delegation (EIP-7702). */
export type SenderCode = 'none' | 'contract' | 'delegation'

type Check<E extends TransactionError> = E | undefined

/** First byte of the hash of a KZG commitment, the only kind defined (EIP-4844). */
const KZG_VERSION = '01'

/** Largest gas a transaction can use: its limit, or the network's bound on one transaction (docs/design/evm-rules.md#limits). */
export const executionGasLimit = (
  { gasLimit }: Pick<DecodedTransaction, 'gasLimit'>,
  { params }: Pick<TransactionBlock, 'params'>,
): bigint =>
  params.maxTxExecutionGas === null || gasLimit < params.maxTxExecutionGas ? gasLimit : params.maxTxExecutionGas

/** Wei the sender must own: the whole limit must be payable, even if only part of it can be used. */
export const maxCostWei = (tx: Transaction): bigint => tx.gasLimit * tx.maxFeePerGas + maxBlobFee(tx) + tx.value

/** EIP-2718: the fork has the type, and blobs need a price in the block. */
export const checkType = (
  { type }: DecodedTransaction,
  { newestType }: ExecutionRules,
  { blobs }: TransactionBlock,
): Check<TransactionFormError> =>
  type > newestType || (type === 3 && blobs === undefined) ? { code: 'TYPE_UNSUPPORTED', type } : undefined

/** EIP-155. A transaction without a chain id is valid; accepting it is pool policy. */
export const checkChainId = (
  { chainId }: DecodedTransaction,
  { hasReplayProtection }: ExecutionRules,
  { params }: TransactionBlock,
): Check<TransactionFormError> => {
  if (chainId === undefined) return undefined
  if (!hasReplayProtection) return { code: 'PROTECTED_TOO_EARLY' }
  return chainId === params.chainId ? undefined : { code: 'INVALID_CHAIN_ID', have: chainId, want: params.chainId }
}

/** EIP-7702. */
export const checkAuthorizations = ({ type, authorizationList }: DecodedTransaction): Check<TransactionFormError> =>
  type === 4 && (authorizationList === undefined || authorizationList.length === 0)
    ? { code: 'NO_AUTHORIZATIONS' }
    : undefined

/** EIP-4844, and the bounds of EIP-7594 and EIP-7691. */
export const checkBlobs = (
  { type, blobVersionedHashes: hashes = [] }: DecodedTransaction,
  { blobsPerTransaction }: ExecutionRules,
  { blobs }: TransactionBlock,
): Check<TransactionFormError> => {
  if (type !== 3) return undefined
  if (hashes.length === 0) return { code: 'NO_BLOBS' }
  const unknown = hashes.find(hash => !hash.startsWith(KZG_VERSION, 2))
  if (unknown !== undefined) return { code: 'BLOB_VERSION_UNKNOWN', hash: unknown }
  const limit = Math.min(blobs?.maxPerBlock ?? 0, blobsPerTransaction ?? Number.POSITIVE_INFINITY)
  return hashes.length > limit ? { code: 'TOO_MANY_BLOBS', have: hashes.length, limit } : undefined
}

/** EIP-3860. */
export const checkInitCode = (
  { to, data }: DecodedTransaction,
  { boundsInitCode }: ExecutionRules,
  { params }: TransactionBlock,
): Check<TransactionFormError> => {
  if (to !== null || !boundsInitCode) return undefined
  const limit = initCodeSizeLimit(params)
  return data.byteLength > limit ? { code: 'INIT_CODE_TOO_LARGE', size: data.byteLength, limit } : undefined
}

/** Compares the limit with that of the block. */
export const checkGasLimit = (
  { gasLimit: have }: DecodedTransaction,
  { gasLimit: limit }: TransactionBlock,
): Check<TransactionFormError> => (have > limit ? { code: 'GAS_LIMIT_TOO_HIGH', have, limit } : undefined)

/** EIP-7825. */
export const checkGasCap = (
  { gasLimit: have }: DecodedTransaction,
  { transactionGasCap: limit }: ExecutionRules,
): Check<TransactionFormError> =>
  limit !== null && have > limit ? { code: 'GAS_CAP_EXCEEDED', have, limit } : undefined

/** EIP-1559. */
export const checkTip = ({
  maxFeePerGas: cap,
  maxPriorityFeePerGas: tip,
}: DecodedTransaction): Check<TransactionFormError> => (tip > cap ? { code: 'TIP_ABOVE_FEE_CAP', tip, cap } : undefined)

/** The usable gas covers the cost before the message runs, and the floor (EIP-7623). */
export const checkIntrinsicGas = (
  tx: DecodedTransaction,
  { intrinsic }: ExecutionRules,
  block: TransactionBlock,
): Check<TransactionFormError> => {
  const want = minimumGas(tx, intrinsic)
  const have = executionGasLimit(tx, block)
  return have < want ? { code: 'INTRINSIC_GAS', have, want } : undefined
}

/** EIP-3607: contracts cannot send, except delegated accounts and, on a development chain, impersonated ones. */
export const checkSenderCode = (
  tx: Transaction,
  code: SenderCode,
  { hasDelegation }: ExecutionRules,
  { params }: TransactionBlock,
): Check<TransactionSenderStateError> => {
  if (code === 'none' || (code === 'delegation' && hasDelegation)) return undefined
  if (impersonatedSenderOn(params, tx) !== undefined) return undefined
  return { code: 'SENDER_NOT_EOA', address: tx.from }
}

/** Checks that the nonce is not used yet; `expected`: that of the account. */
export const checkNonceUnused = (
  { nonce: got }: Transaction,
  expected: Nonce,
): Check<Extract<TransactionSenderStateError, { code: 'NONCE_TOO_LOW' }>> =>
  got < expected ? { code: 'NONCE_TOO_LOW', expected, got } : undefined

/** Checks that the nonce is the account's, and not the last possible one (EIP-2681). */
export const checkNonce = (
  tx: Transaction,
  expected: Nonce,
): Check<TransactionSenderStateError | TransactionPlaceError> => {
  if (tx.nonce > expected) return { code: 'NONCE_TOO_HIGH', expected, got: tx.nonce }
  return checkNonceUnused(tx, expected) ?? (tx.nonce === MAX_UINT64 ? { code: 'NONCE_MAX' } : undefined)
}

/** `want`: wei that must be payable, at least `maxCostWei` of the transaction. */
export const checkFunds = (have: bigint, want: bigint): Check<TransactionSenderStateError> =>
  have < want ? { code: 'INSUFFICIENT_FUNDS', have, want } : undefined

/** EIP-1559. */
export const checkBaseFee = (
  { maxFeePerGas: have }: Transaction,
  { hasBaseFee }: ExecutionRules,
  want: bigint,
): Check<TransactionPlaceError> => (hasBaseFee && have < want ? { code: 'FEE_BELOW_BASE_FEE', have, want } : undefined)

/** EIP-4844. */
export const checkBlobFee = (
  { type, maxFeePerBlobGas: have = 0n }: Transaction,
  want: bigint,
): Check<TransactionPlaceError> => (type === 3 && have < want ? { code: 'BLOB_FEE_TOO_LOW', have, want } : undefined)

/** `limit`: gas left by the transactions before it. All usable gas must fit, so that no execution exceeds a bound. */
export const checkGasRoom = (tx: Transaction, block: TransactionBlock, limit: bigint): Check<TransactionPlaceError> => {
  const have = executionGasLimit(tx, block)
  return have > limit ? { code: 'BLOCK_GAS_EXCEEDED', have, limit } : undefined
}

/** `limit`: blobs left by the transactions before it. */
export const checkBlobRoom = ({ blobVersionedHashes }: Transaction, limit: number): Check<TransactionPlaceError> => {
  const have = blobVersionedHashes?.length ?? 0
  return have > limit ? { code: 'BLOCK_BLOBS_EXCEEDED', have, limit } : undefined
}

/** Largest code of a contract in bytes: that of EIP-170, or the chain's own. */
export const codeSizeLimit = ({ codeSizeLimit = BLOCK_BOUNDS.codeBytes }: Pick<ChainParams, 'codeSizeLimit'>): number =>
  codeSizeLimit

/** Largest init code in bytes: twice as many (EIP-3860). */
export const initCodeSizeLimit = (params: Pick<ChainParams, 'codeSizeLimit'>): number => 2 * codeSizeLimit(params)
