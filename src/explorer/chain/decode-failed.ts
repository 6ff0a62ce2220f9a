import { EXECUTION_LIMITS } from '../../config/limits/execution.ts'
import type { FailedExecution } from '../../primitives/receipt/failed-execution.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import type { NodeAnswer } from './node-answer.ts'
import { remoteNodeError } from './node-error.ts'

/** Failure of native_getFailedTransactions, of a transaction whose receipt says so, behind that of `before`. Throws NODE_ANSWER_INVALID. */
export const failedFromAnswer = (answer: NodeAnswer, receipts: readonly Receipt[], before: number): FailedExecution => {
  const transactionIndex = answer.member('transactionIndex').integer()
  if (transactionIndex <= before || receipts[transactionIndex]?.status !== 0)
    throw remoteNodeError({ code: 'NODE_ANSWER_INVALID', reason: `transaction ${transactionIndex} did not fail` })
  return {
    transactionIndex,
    error: answer.member('error').text(),
    output: new Uint8Array(answer.member('output').bytes().subarray(0, EXECUTION_LIMITS.failureBytes)),
  }
}
