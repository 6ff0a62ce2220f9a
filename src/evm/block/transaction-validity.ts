import { impersonatedSender } from '../../primitives/impersonation.ts'
import type { Transaction } from '../../primitives/transaction.ts'
import { initCodeSizeLimit } from '../../rules/code-size.ts'
import { maxBlobFee } from '../../rules/ethereum/blob-fee.ts'
import { minimumGas } from '../../rules/intrinsic-gas.ts'
import { EMPTY_CODE_HASH } from '../../state/account.ts'
import type { Journal } from '../../state/journal/journal.ts'
import { MAX_NONCE } from '../../util/nonce.ts'
import type { BlockEnv } from '../block-env.ts'
import type { InvalidReason } from '../executor-types.ts'
import { checkBlobs } from './blobs.ts'
import type { ExecutionRules } from './execution-rules.ts'

/** Where in a block the transaction would stand. */
export interface BlockPosition {
  readonly env: BlockEnv
  readonly rules: ExecutionRules
  /** Gas used by the transactions before. */
  readonly gasUsed: bigint
  /** Blob gas of the transactions before. */
  readonly blobGasUsed: bigint
}

/** Code that only points to another account's code (EIP-7702). */
export const isDelegation = (code: Uint8Array): boolean =>
  code.byteLength === 23 && code[0] === 0xef && code[1] === 0x01 && code[2] === 0x00

/** The most gas a transaction can use: its limit, or the network's bound on one transaction (docs/design/evm-rules.md#limits). */
export const executionGasLimit = (tx: Transaction, env: BlockEnv): bigint =>
  tx.gasLimit < env.params.maxTxExecutionGas ? tx.gasLimit : env.params.maxTxExecutionGas

/** Why the transaction cannot stand here; undefined: it can. Order of the checks as in go-ethereum. */
export const invalidReason = (journal: Journal, at: BlockPosition, tx: Transaction): InvalidReason | undefined =>
  checkForm(at, tx) ??
  checkNonce(journal, tx) ??
  checkCode(journal, at.rules, tx) ??
  checkFees(at, tx) ??
  checkFunds(journal, tx) ??
  checkTransactionGas(at, tx) ??
  checkGas(at, tx) ??
  checkBlockGas(at, tx)

/**
 * The same for a call in a simulated block (eth_simulateV1): anybody sends, contracts too, and a single call may have more gas
 * than a transaction. Unless `rejectHighS`, the nonce may be any, and a call that offers nothing pays nothing.
 */
export const invalidSimulatedReason = (
  journal: Journal,
  at: BlockPosition,
  tx: Transaction,
  strict: boolean,
): InvalidReason | undefined =>
  checkForm(at, tx) ??
  (strict ? checkNonce(journal, tx) : undefined) ??
  (strict || tx.maxFeePerGas > 0n || tx.maxPriorityFeePerGas > 0n ? checkFees(at, tx) : undefined) ??
  checkFunds(journal, tx) ??
  checkGas(at, tx)

const checkForm = (at: BlockPosition, tx: Transaction): InvalidReason | undefined => {
  const { env, rules } = at
  if (tx.type > rules.newestType) return { code: 'UNSUPPORTED_TYPE', type: tx.type }
  if (tx.chainId !== undefined) {
    if (!rules.hasReplayProtection) return { code: 'PROTECTED_TOO_EARLY' }
    const expected = env.params.chainId
    if (tx.chainId !== expected) return { code: 'WRONG_CHAIN_ID', expected, got: tx.chainId }
  }
  if (tx.type === 4 && (tx.authorizationList === undefined || tx.authorizationList.length === 0)) {
    return { code: 'UNSUPPORTED_TYPE', type: 4 }
  }
  return checkBlobs(at, tx)
}

const checkNonce = (journal: Journal, tx: Transaction): InvalidReason | undefined => {
  const expected = journal.nonce(tx.from)
  if (tx.nonce < expected) return { code: 'NONCE_TOO_LOW', expected, got: tx.nonce }
  if (tx.nonce > expected) return { code: 'NONCE_TOO_HIGH', expected, got: tx.nonce }
  // EIP-2681
  if (tx.nonce === MAX_NONCE) return { code: 'NONCE_MAX' }
  return undefined
}

/** EIP-3607. */
const checkCode = (journal: Journal, rules: ExecutionRules, tx: Transaction): InvalidReason | undefined => {
  if (journal.codeHash(tx.from) === EMPTY_CODE_HASH || impersonatedSender(tx) !== undefined) return undefined
  return rules.hasDelegation && isDelegation(journal.code(tx.from)) ? undefined : { code: 'SENDER_NOT_EOA' }
}

const checkFees = ({ env, rules }: BlockPosition, tx: Transaction): InvalidReason | undefined => {
  const { maxFeePerGas: cap, maxPriorityFeePerGas: tip } = tx
  if (tip > cap) return { code: 'TIP_ABOVE_FEE_CAP', tip, cap }
  if (rules.hasBaseFee && cap < env.baseFeePerGas) {
    return { code: 'FEE_BELOW_BASE_FEE', have: cap, want: env.baseFeePerGas }
  }
  return undefined
}

/** The whole limit must be payable, also where only a part of it can be used. */
const checkFunds = (journal: Journal, tx: Transaction): InvalidReason | undefined => {
  const want = tx.gasLimit * tx.maxFeePerGas + maxBlobFee(tx) + tx.value
  const have = journal.balance(tx.from)
  return have < want ? { code: 'INSUFFICIENT_FUNDS', have, want } : undefined
}

const checkTransactionGas = ({ rules }: BlockPosition, tx: Transaction): InvalidReason | undefined => {
  const cap = rules.transactionGasCap
  return cap !== null && tx.gasLimit > cap ? { code: 'GAS_LIMIT_EXCEEDED', have: tx.gasLimit, limit: cap } : undefined
}

/** A transaction stands in a block only where all that it may use fits: so none ever runs beyond the bound (docs/consensus.md). */
const checkBlockGas = ({ env, gasUsed }: BlockPosition, tx: Transaction): InvalidReason | undefined => {
  const limit = env.params.maxBlockExecutionGas - gasUsed
  const have = executionGasLimit(tx, env)
  return have > limit ? { code: 'BLOCK_GAS_EXCEEDED', have, limit } : undefined
}

const checkGas = ({ env, rules, gasUsed }: BlockPosition, tx: Transaction): InvalidReason | undefined => {
  const size = tx.data.byteLength
  const limit = initCodeSizeLimit(env.params)
  if (rules.boundsInitCode && tx.to === null && size > limit) return { code: 'INIT_CODE_TOO_LARGE', size, limit }
  if (tx.gasLimit > env.gasLimit || gasUsed + executionGasLimit(tx, env) > env.gasLimit) {
    return { code: 'GAS_LIMIT_EXCEEDED', have: tx.gasLimit, limit: env.gasLimit - gasUsed }
  }
  const want = minimumGas(tx, rules.intrinsic)
  const have = executionGasLimit(tx, env)
  return have < want ? { code: 'INTRINSIC_GAS_TOO_LOW', have, want } : undefined
}
