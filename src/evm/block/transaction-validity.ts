import { GAS_PER_BLOB } from '../../config/forks.ts'
import { isDelegation } from '../../primitives/transaction/delegation.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import type { ExecutionRules } from '../../rules/execution-rules.ts'
import {
  checkAuthorizations,
  checkBaseFee,
  checkBlobFee,
  checkBlobRoom,
  checkBlobs,
  checkChainId,
  checkFunds,
  checkGasCap,
  checkGasLimit,
  checkGasRoom,
  checkInitCode,
  checkIntrinsicGas,
  checkNonce,
  checkSenderCode,
  checkTip,
  checkType,
  maxCostWei,
  type SenderCode,
  type TransactionError,
} from '../../rules/transaction.ts'
import { EMPTY_CODE_HASH } from '../../state/account.ts'
import type { Journal } from '../../state/journal/journal.ts'
import type { BlockEnv } from '../block-env.ts'

/** Position of a transaction in a block. */
export interface BlockPosition {
  readonly env: BlockEnv
  readonly rules: ExecutionRules
  /** Gas used by the transactions before. */
  readonly gasUsed: bigint
  /** Blob gas used by the transactions before. */
  readonly blobGasUsed: bigint
}

/** Returns the reason why the transaction is invalid here; undefined when valid. Order of the checks as in go-ethereum. */
export const invalidReason = (journal: Journal, at: BlockPosition, tx: Transaction): TransactionError | undefined =>
  checkForm(at, tx) ??
  checkNonce(tx, journal.nonce(tx.from)) ??
  checkSenderCode(tx, senderCode(journal, tx), at.rules, at.env) ??
  checkFees(at, tx) ??
  checkFunds(journal.balance(tx.from), maxCostWei(tx)) ??
  checkGasCap(tx, at.rules) ??
  checkInitCode(tx, at.rules, at.env) ??
  checkGasLimit(tx, at.env) ??
  checkIntrinsicGas(tx, at.rules, at.env) ??
  checkGasRoom(tx, at.env, gasLeft(at))

/**
 * Like `invalidReason`, for a call in a simulated block (eth_simulateV1): any account may send, contracts too, and a single
 * call may have more gas than a transaction, but never more than its block has left. Unless `strict`, any nonce is valid, and a call
 * without a fee pays nothing.
 */
export const invalidSimulatedReason = (
  journal: Journal,
  at: BlockPosition,
  tx: Transaction,
  strict: boolean,
): TransactionError | undefined =>
  checkGasLimit(tx, at.env) ??
  checkGasRoom(tx, at.env, at.env.gasLimit - at.gasUsed) ??
  checkForm(at, tx) ??
  (strict ? checkNonce(tx, journal.nonce(tx.from)) : undefined) ??
  (strict || tx.maxFeePerGas > 0n || tx.maxPriorityFeePerGas > 0n ? checkFees(at, tx) : undefined) ??
  checkFunds(journal.balance(tx.from), maxCostWei(tx)) ??
  checkInitCode(tx, at.rules, at.env) ??
  checkIntrinsicGas(tx, at.rules, at.env)

const checkForm = (at: BlockPosition, tx: Transaction): TransactionError | undefined => {
  const { env, rules } = at
  return checkType(tx, rules, env) ?? checkChainId(tx, rules, env) ?? checkAuthorizations(tx) ?? checkBlobsHere(at, tx)
}

const checkBlobsHere = ({ env, rules, blobGasUsed }: BlockPosition, tx: Transaction): TransactionError | undefined => {
  if (tx.type !== 3 || env.blobs === undefined) return undefined
  const { maxPerBlock, baseFeePerGas } = env.blobs
  return (
    checkBlobs(tx, rules, env) ??
    checkBlobRoom(tx, maxPerBlock - Number(blobGasUsed / GAS_PER_BLOB)) ??
    checkBlobFee(tx, baseFeePerGas)
  )
}

const checkFees = ({ env, rules }: BlockPosition, tx: Transaction): TransactionError | undefined =>
  checkTip(tx) ?? checkBaseFee(tx, rules, env.baseFeePerGas)

const senderCode = (journal: Journal, { from }: Transaction): SenderCode => {
  if (journal.codeHash(from) === EMPTY_CODE_HASH) return 'none'
  return isDelegation(journal.code(from)) ? 'delegation' : 'contract'
}

/** Gas below the header's limit and the network's bound on the execution of a block (docs/design/consensus.md). */
const gasLeft = ({ env, gasUsed }: BlockPosition): bigint => {
  const { maxBlockExecutionGas } = env.params
  return (maxBlockExecutionGas < env.gasLimit ? maxBlockExecutionGas : env.gasLimit) - gasUsed
}
