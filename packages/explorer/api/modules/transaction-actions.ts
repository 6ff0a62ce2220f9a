import type { IncludedReceipt } from '../../chain/types.ts'
import { failureText } from '../../verification/abi/failure-text.ts'
import type { ApiContext } from '../api-route.ts'
import { hashParameter, type ModuleActions, moduleSuccess, type Parameters } from './module-answer.ts'

const receiptOf = ({ source }: ApiContext, parameters: Parameters): Promise<IncludedReceipt | undefined> =>
  source.receipt(hashParameter(parameters, 'txhash'))

export const transactionActions: ModuleActions = {
  gettxreceiptstatus: async (context, parameters) => {
    const included = await receiptOf(context, parameters)
    return moduleSuccess({ status: included === undefined ? '' : String(included.receipt.status ?? 1) })
  },
  getstatus: async (context, parameters) => {
    const included = await receiptOf(context, parameters)
    if (included?.receipt.status !== 0) return moduleSuccess({ isError: '0', errDescription: '' })
    const failed = await context.index.failedExecution(included.blockNumber, included.index)
    const errDescription = failed === undefined ? 'execution reverted' : failureText(failed, undefined)
    return moduleSuccess({ isError: '1', errDescription })
  },
}
