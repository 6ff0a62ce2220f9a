import type { Receipt } from '../../../primitives/receipt/receipt.ts'
import type { ApiContext } from '../api-route.ts'
import { hashParameter, type ModuleActions, moduleSuccess, type Parameters } from './module-answer.ts'

const receiptOf = async ({ source }: ApiContext, parameters: Parameters): Promise<Receipt | undefined> => {
  const place = await source.blocks.locate(hashParameter(parameters, 'txhash'))
  return place && (await source.receipt(place))?.receipt
}

export const transactionActions: ModuleActions = {
  gettxreceiptstatus: async (context, parameters) => {
    const receipt = await receiptOf(context, parameters)
    return moduleSuccess({ status: receipt === undefined ? '' : String(receipt.status ?? 1) })
  },
  getstatus: async (context, parameters) => {
    const receipt = await receiptOf(context, parameters)
    const isError = receipt?.status === 0
    return moduleSuccess({ isError: isError ? '1' : '0', errDescription: isError ? 'execution reverted' : '' })
  },
}
