import { type BlockInternalTransfer, INTERNAL_KINDS } from '../../primitives/receipt/internal-transfer.ts'
import type { NodeAnswer } from './node-answer.ts'
import { remoteNodeError } from './node-error.ts'

/** Internal transfer of native_getInternalTransfers, in a block with so many transactions. Throws NODE_ANSWER_INVALID. */
export const internalTransferFromAnswer = (answer: NodeAnswer, transactions: number): BlockInternalTransfer => {
  const type = answer.member('type').text()
  const kind = INTERNAL_KINDS.find(known => known === type)
  const transactionIndex = answer.member('transactionIndex').integer()
  if (kind === undefined || transactionIndex >= transactions)
    throw remoteNodeError({
      code: 'NODE_ANSWER_INVALID',
      reason: 'an internal transfer of another kind or transaction',
    })
  return {
    transactionIndex,
    kind,
    from: answer.member('from').hex(20),
    to: answer.member('to').hex(20),
    value: answer.member('value').quantity(),
  }
}
