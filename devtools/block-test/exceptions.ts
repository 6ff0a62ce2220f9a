import { CodedError, isCoded } from '@tandem/base/errors.ts'
import type { TransactionError } from '../../src/rules/transaction.ts'

/** Names in the public tests of the reasons for which a transaction makes its block invalid. */
const TRANSACTION: Readonly<Record<TransactionError['code'], readonly string[]>> = {
  TYPE_UNSUPPORTED: ['TYPE_1_TX_PRE_FORK', 'TYPE_2_TX_PRE_FORK', 'TYPE_3_TX_PRE_FORK', 'TYPE_4_TX_PRE_FORK'],
  INVALID_CHAIN_ID: ['INVALID_CHAINID'],
  PROTECTED_TOO_EARLY: ['INVALID_SIGNATURE_VRS'],
  NO_AUTHORIZATIONS: ['TYPE_4_EMPTY_AUTHORIZATION_LIST'],
  NO_BLOBS: ['TYPE_3_TX_ZERO_BLOBS'],
  BLOB_VERSION_UNKNOWN: ['TYPE_3_TX_INVALID_BLOB_VERSIONED_HASH'],
  TOO_MANY_BLOBS: ['TYPE_3_TX_BLOB_COUNT_EXCEEDED', 'TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED'],
  INIT_CODE_TOO_LARGE: ['INITCODE_SIZE_EXCEEDED'],
  GAS_LIMIT_TOO_HIGH: ['GAS_ALLOWANCE_EXCEEDED'],
  GAS_CAP_EXCEEDED: ['GAS_LIMIT_EXCEEDS_MAXIMUM'],
  TIP_ABOVE_FEE_CAP: ['PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS'],
  INTRINSIC_GAS: ['INTRINSIC_GAS_TOO_LOW', 'INTRINSIC_GAS_BELOW_FLOOR_GAS_COST'],
  SENDER_NOT_EOA: ['SENDER_NOT_EOA'],
  NONCE_TOO_LOW: ['NONCE_MISMATCH_TOO_LOW'],
  NONCE_TOO_HIGH: ['NONCE_MISMATCH_TOO_HIGH'],
  NONCE_MAX: ['NONCE_IS_MAX'],
  INSUFFICIENT_FUNDS: ['INSUFFICIENT_ACCOUNT_FUNDS'],
  FEE_BELOW_BASE_FEE: ['INSUFFICIENT_MAX_FEE_PER_GAS'],
  BLOB_FEE_TOO_LOW: ['INSUFFICIENT_MAX_FEE_PER_BLOB_GAS'],
  BLOCK_GAS_EXCEEDED: ['GAS_ALLOWANCE_EXCEEDED'],
  BLOCK_BLOBS_EXCEEDED: ['TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED'],
}

/** Names of the reasons for which a header does not fit its block, by member. */
const FIELDS: Readonly<Record<string, string>> = {
  gasLimit: 'INVALID_GASLIMIT',
  timestamp: 'INVALID_BLOCK_TIMESTAMP_OLDER_THAN_PARENT',
  excessBlobGas: 'INCORRECT_EXCESS_BLOB_GAS',
  blobGasUsed: 'INCORRECT_BLOB_GAS_USED',
  requestsHash: 'INVALID_REQUESTS',
  withdrawalsRoot: 'INVALID_WITHDRAWALS_ROOT',
  baseFeePerGas: 'INVALID_BASEFEE_PER_GAS',
  gasUsed: 'INVALID_GAS_USED',
  stateRoot: 'INVALID_STATE_ROOT',
  receiptsRoot: 'INVALID_RECEIPTS_ROOT',
  logsBloom: 'INVALID_LOG_BLOOM',
  parentHash: 'UNKNOWN_PARENT',
}

interface Detail {
  readonly code: string
  readonly field?: string
  readonly reason?: unknown
}

/** Names in the public tests of what this node refused a block for; none: it is no refusal of the block. */
export const exceptionNames = (error: unknown): readonly string[] => {
  if (!isCoded(error)) return []
  const { code, field, reason } = error.detail as Detail
  switch (code) {
    case 'BLOCK_INVALID':
      return exceptionNames(error.cause)
    case 'INVALID_TRANSACTION':
      return TRANSACTION[(reason as TransactionError).code]
    case 'BLOCK_MISMATCH':
      return [FIELDS[field ?? ''] ?? `a wrong ${field}`]
    case 'SYSTEM_CALL_FAILED':
      return [reason === 'no contract' ? 'SYSTEM_CONTRACT_EMPTY' : 'SYSTEM_CONTRACT_CALL_FAILED']
    case 'DEPOSIT_MALFORMED':
      return ['INVALID_DEPOSIT_EVENT_LAYOUT']
    case 'BLOCK_MALFORMED':
      return ['RLP_STRUCTURES_ENCODING', 'TYPE_3_TX_WITH_FULL_BLOBS']
    default:
      return []
  }
}

/** Text of an error for a line of the report. */
export const refusalText = (error: unknown): string =>
  error instanceof CodedError || error instanceof Error ? error.message : String(error)
