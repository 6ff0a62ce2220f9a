import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { blobParamsAt } from '../../config/forks.ts'
import { POOL_LIMITS } from '../../config/limits/pool.ts'
import type { ChainParams } from '../../config/networks.ts'
import { BLOCK_BOUNDS } from '../../config/protocol-bounds.ts'
import type { DecodedTransaction, Transaction } from '../../primitives/transaction/transaction.ts'
import { type ExecutionRules, executionRulesAt } from '../../rules/execution-rules.ts'
import {
  checkAuthorizations,
  checkBlobs,
  checkChainId,
  checkFunds,
  checkGasCap,
  checkGasLimit,
  checkInitCode,
  checkIntrinsicGas,
  checkNonceUnused,
  checkSenderCode,
  checkTip,
  checkType,
  maxCostWei,
  type TransactionBlock,
} from '../../rules/transaction.ts'
import type { PoolEntry } from './entry.ts'
import type { PoolError } from './errors.ts'
import type { SenderQueue } from './sender-queue.ts'
import type { AccountReader } from './types.ts'

/** Rules of the block after the head, and the policy of this pool. */
export interface AdmissionRules {
  readonly params: ChainParams
  readonly allowUnprotected: boolean
  /** Wei. */
  readonly baseFee: bigint
  readonly fork: ExecutionRules
  readonly block: TransactionBlock
}

/** Returns the rules of the block after the head. */
export const admissionRules = (
  params: ChainParams,
  number: number,
  baseFee: bigint,
  allowUnprotected: boolean,
): AdmissionRules => {
  const blobs = blobParamsAt(params.blobForks, number)
  return {
    params,
    allowUnprotected,
    baseFee,
    fork: executionRulesAt(params, number),
    block: { params, gasLimit: params.blockGasLimit, blobs: blobs && { maxPerBlock: blobs.max } },
  }
}

const refuseWith = (detail: PoolError | undefined): void => {
  if (detail !== undefined) throw new CodedError<PoolError>(detail)
}

/** Checks that need no sender; throws CodedError<PoolError>. Cheap, so they also run before the recovery. */
export const checkForm = (tx: DecodedTransaction, rules: AdmissionRules): void => {
  const { fork, block } = rules
  refuseWith(
    checkType(tx, fork, block) ??
      checkAuthorizations(tx) ??
      checkBlobs(tx, fork, block) ??
      checkInitCode(tx, fork, block) ??
      checkGasLimit(tx, block) ??
      checkGasCap(tx, fork) ??
      checkProtection(tx, rules) ??
      checkChainId(tx, fork, block) ??
      checkTip(tx) ??
      checkPrice(tx, rules),
  )
  checkSize(countedBytes(tx))
}

const checkProtection = ({ chainId }: DecodedTransaction, rules: AdmissionRules): PoolError | undefined =>
  chainId === undefined && !rules.allowUnprotected ? { code: 'UNPROTECTED' } : undefined

const checkPrice = (
  { maxFeePerGas }: DecodedTransaction,
  { params, baseFee }: AdmissionRules,
): PoolError | undefined => {
  const { lowerBoundWei } = params.baseFee
  // A development chain may set a base fee below the floor.
  const minWei = params.devHelpers || baseFee > lowerBoundWei ? baseFee : lowerBoundWei
  return maxFeePerGas < minWei ? { code: 'UNDERPRICED', gotWei: maxFeePerGas, minWei } : undefined
}

/** Bytes that a transaction counts for: an authorization takes many times its length in memory, and a signature recovery. */
const countedBytes = ({ raw, authorizationList = [] }: DecodedTransaction): number =>
  raw.byteLength + authorizationList.length * POOL_LIMITS.authorizationBytes

/** Bytes for which a transaction takes room: those, and what its access list holds in memory. */
export const heldBytes = (tx: DecodedTransaction): number =>
  tx.accessList.reduce(
    (sum, { storageKeys }) => sum + (1 + storageKeys.length) * POOL_LIMITS.accessItemBytes,
    countedBytes(tx),
  )

export const checkSize = (sizeBytes: number): void => {
  const limitBytes = BLOCK_BOUNDS.transactionBytes
  if (sizeBytes > limitBytes) refuseWith({ code: 'OVERSIZED', sizeBytes, limitBytes })
}

/**
 * Checks against the sender's account at the head. As in geth, the balance must cover this transaction and all of the sender's ready
 * ones ahead of it: with separate checks an account with funds for one could fill the pool with thousands that can never all be paid.
 */
export const checkAccount = (
  tx: Transaction,
  sender: SenderQueue,
  replaced: PoolEntry | undefined,
  accounts: AccountReader,
  { fork, block }: AdmissionRules,
): void => {
  const replacesReady = replaced !== undefined && tx.nonce < sender.nonce + sender.ready
  const want = maxCostWei(tx) + sender.readyCostWei - (replacesReady ? replaced.costWei : 0n)
  refuseWith(
    checkSenderCode(tx, accounts.code?.(tx.from) ?? 'none', fork, block) ??
      checkCountable(tx) ??
      checkNonceUnused(tx, sender.nonce) ??
      checkFunds(sender.balanceWei, want) ??
      checkIntrinsicGas(tx, fork, block),
  )
}

/**
 * The balance of an account that delegates can leave it by anyone's transaction, so that all that it has in the pool is worth nothing at
 * once, having evicted others (EIP-7702). So it has one transaction in flight, which only a replacement follows before it is included.
 */
export const checkDelegated = ({ nonce }: Transaction, sender: SenderQueue, replaced: PoolEntry | undefined): void => {
  if (replaced !== undefined) return
  if (sender.entries.length > 0) refuseWith({ code: 'DELEGATED_IN_FLIGHT' })
  if (nonce !== sender.nonce) refuseWith({ code: 'DELEGATED_NONCE_GAP' })
}

/** Accounts that a transaction may make delegate, of its authorizations' signers, with each highest nonce. Used nonces take no effect. */
export const authoritiesOf = (
  { authorizationList = [] }: Transaction,
  signers: readonly (Hex | undefined)[],
  accounts: AccountReader,
  { params }: AdmissionRules,
): ReadonlyMap<Hex, bigint> => {
  const authorities = new Map<Hex, bigint>()
  for (const [at, { chainId, nonce }] of authorizationList.entries()) {
    const signer = signers[at]
    if (signer === undefined || (chainId !== 0n && chainId !== BigInt(params.chainId))) continue
    if (nonce >= BigInt(accounts.nonce(signer)) && nonce >= (authorities.get(signer) ?? 0n))
      authorities.set(signer, nonce)
  }
  return authorities
}

/** The pool counts nonces as numbers, so a sender's next nonce must be one too; no sender reaches the limit by transactions (EIP-2681). */
const checkCountable = ({ nonce }: Transaction): PoolError | undefined =>
  nonce >= Number.MAX_SAFE_INTEGER ? { code: 'NONCE_MAX' } : undefined

/** Both fee fields must rise by the bump, so that replacing is never free for the sender; a tip of zero may stay zero. */
export const checkReplacement = (tx: Transaction, old: Transaction, bumpPercent: number): void => {
  const bump = (wei: bigint): bigint => (wei * BigInt(100 + bumpPercent) + 99n) / 100n
  const minFeeWei = bump(old.maxFeePerGas)
  const minTipWei = bump(old.maxPriorityFeePerGas)
  if (tx.maxFeePerGas < minFeeWei || tx.maxPriorityFeePerGas < minTipWei) {
    refuseWith({ code: 'REPLACEMENT_UNDERPRICED', minFeeWei, minTipWei })
  }
}
