import { CodedError } from '@tandem/base/errors.ts'
import { expect, test } from 'vitest'
import { toRpcError } from '../../../src/rpc/errors.ts'
import type { TransactionError } from '../../../src/rules/transaction.ts'

/** Codes of eth_simulateV1 in the execution APIs. */
const CASES: readonly (readonly [TransactionError, number, string])[] = [
  [{ code: 'NONCE_TOO_LOW', expected: 2, got: 1 }, -38010, 'nonce too low: have 1, want 2'],
  [{ code: 'NONCE_TOO_HIGH', expected: 2, got: 3 }, -38011, 'nonce too high: have 3, want 2'],
  [
    { code: 'FEE_BELOW_BASE_FEE', have: 1n, want: 2n },
    -38012,
    'max fee per gas less than block base fee: have 1, want 2',
  ],
  [{ code: 'INTRINSIC_GAS', have: 1n, want: 21_000n }, -38013, 'intrinsic gas too low: have 1, want 21000'],
  [
    { code: 'INSUFFICIENT_FUNDS', have: 1n, want: 2n },
    -38014,
    'insufficient funds for gas * price + value: have 1, want 2',
  ],
  [{ code: 'GAS_LIMIT_TOO_HIGH', have: 9n, limit: 8n }, -38015, 'block gas limit exceeded: have 9, left 8'],
  [{ code: 'SENDER_NOT_EOA', address: `0x${'ab'.repeat(20)}` }, -38024, 'sender not an eoa'],
  [{ code: 'INIT_CODE_TOO_LARGE', size: 9, limit: 8 }, -38025, 'max initcode size exceeded: code size 9, limit 8'],
  [{ code: 'TIP_ABOVE_FEE_CAP', tip: 2n, cap: 1n }, -32602, 'max priority fee per gas higher than max fee per gas'],
  [{ code: 'NONCE_MAX' }, -32602, 'nonce has max value'],
]

test.each(CASES)('%o', (reason, code, message) => {
  const detail = { code: 'SIMULATION_CALL_INVALID', number: 7, index: 1, reason } as const
  expect(toRpcError(new CodedError(detail))).toMatchObject({ code, message: `err: ${message} (call 1 of block 7)` })
})
