import { blobParamsAt, isActive } from '../../config/forks.ts'
import { LIMITS } from '../../config/limits.ts'
import type { ChainParams } from '../../config/networks.ts'
import { impersonatedSender } from '../../primitives/impersonation.ts'
import type { DecodedTransaction, Transaction } from '../../primitives/transaction.ts'
import { initCodeSizeLimit } from '../../rules/code-size.ts'
import { type IntrinsicGasRules, intrinsicGasRulesAt, minimumGas } from '../../rules/intrinsic-gas.ts'
import { CodedError } from '../../util/errors.ts'
import type { PoolError } from '../errors.ts'
import type { AccountReader } from '../ports.ts'
import { maxCostWei, type PoolEntry } from './entry.ts'
import type { SenderQueue } from './sender-queue.ts'

/** Requirements of the next block on a transaction. */
export interface AdmissionRules {
  readonly params: ChainParams
  readonly allowUnprotected: boolean
  /** Number and base fee of the block after the head. */
  readonly number: number
  readonly baseFee: bigint
  readonly setCode: boolean
  /** Allows type 3, on a chain with blobs (fixture mode). */
  readonly blobs: boolean
  readonly gas: IntrinsicGasRules
}

/** Returns the rules of the block after the head. */
export const admissionRules = (
  params: ChainParams,
  number: number,
  baseFee: bigint,
  allowUnprotected: boolean,
): AdmissionRules => ({
  params,
  allowUnprotected,
  number,
  baseFee,
  setCode: isActive(params.forks, 'prague', number),
  blobs: blobParamsAt(params.blobForks, number) !== undefined,
  gas: intrinsicGasRulesAt(params, number),
})

const refuse = (detail: PoolError): never => {
  throw new CodedError<PoolError>(detail)
}

/** Checks that do not need the sender; throws CodedError<PoolError>. Cheap, so they also run before the recovery. */
export const checkForm = (tx: DecodedTransaction, rules: AdmissionRules): void => {
  const { params } = rules
  if ((tx.type === 3 && !rules.blobs) || (tx.type === 4 && !rules.setCode)) {
    refuse({ code: 'TYPE_UNSUPPORTED', type: tx.type })
  }
  const limitBytes = initCodeSizeLimit(params)
  if (tx.to === null && tx.data.byteLength > limitBytes) {
    refuse({ code: 'INITCODE_TOO_LARGE', sizeBytes: tx.data.byteLength, limitBytes })
  }
  if (tx.gasLimit > params.blockGasLimit) {
    refuse({ code: 'GAS_LIMIT_TOO_HIGH', have: tx.gasLimit, limit: params.blockGasLimit })
  }
  if (tx.chainId === undefined) {
    if (!rules.allowUnprotected) refuse({ code: 'UNPROTECTED' })
  } else if (tx.chainId !== params.chainId) {
    refuse({ code: 'INVALID_CHAIN_ID', have: tx.chainId, want: params.chainId })
  }
  if (tx.maxPriorityFeePerGas > tx.maxFeePerGas) {
    refuse({ code: 'TIP_ABOVE_FEE_CAP', tipWei: tx.maxPriorityFeePerGas, feeCapWei: tx.maxFeePerGas })
  }
  const { lowerBoundWei } = params.baseFee
  // A development chain may set a base fee below the floor.
  const minWei = params.devHelpers || rules.baseFee > lowerBoundWei ? rules.baseFee : lowerBoundWei
  if (tx.maxFeePerGas < minWei) refuse({ code: 'UNDERPRICED', gotWei: tx.maxFeePerGas, minWei })
  checkSize(tx.raw.byteLength)
}

export const checkSize = (sizeBytes: number): void => {
  const limitBytes = LIMITS.block.transactionBytes
  if (sizeBytes > limitBytes) refuse({ code: 'OVERSIZED', sizeBytes, limitBytes })
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
  rules: AdmissionRules,
): void => {
  if (accounts.hasCode?.(tx.from) && impersonatedSender(tx) === undefined)
    refuse({ code: 'SENDER_NOT_EOA', address: tx.from })
  // The pool counts nonces as numbers, so a sender's next nonce must be one too; no sender can reach the limit by transactions
  // (EIP-2681).
  if (tx.nonce >= Number.MAX_SAFE_INTEGER) refuse({ code: 'NONCE_MAX' })
  if (tx.nonce < sender.nonce) refuse({ code: 'NONCE_TOO_LOW', expected: sender.nonce, got: tx.nonce })
  const replacesReady = replaced !== undefined && tx.nonce < sender.nonce + sender.ready
  const want = maxCostWei(tx) + sender.readyCostWei - (replacesReady ? replaced.costWei : 0n)
  if (want > sender.balanceWei) refuse({ code: 'INSUFFICIENT_FUNDS', have: sender.balanceWei, want })
  const intrinsic = minimumGas(tx, rules.gas)
  if (tx.gasLimit < intrinsic) refuse({ code: 'INTRINSIC_GAS', have: tx.gasLimit, want: intrinsic })
}

/** Both fee fields must rise by the bump, so that replacing is never free for the sender; a tip of zero may stay zero. */
export const checkReplacement = (tx: Transaction, old: Transaction, bumpPercent: number): void => {
  const bump = (wei: bigint): bigint => (wei * BigInt(100 + bumpPercent) + 99n) / 100n
  const minFeeWei = bump(old.maxFeePerGas)
  const minTipWei = bump(old.maxPriorityFeePerGas)
  if (tx.maxFeePerGas < minFeeWei || tx.maxPriorityFeePerGas < minTipWei) {
    refuse({ code: 'REPLACEMENT_UNDERPRICED', minFeeWei, minTipWei })
  }
}
