import type { IncludedReceipt } from '../../chain/types.ts'
import { failureText } from '../../verification/abi/failure-text.ts'
import type { ApiContext } from '../api-route.ts'
import { currentSupply } from '../routes/economy.ts'
import { tokenSupply } from '../token-reads.ts'
import {
  addressParameter,
  hashParameter,
  integerParameter,
  type ModuleActions,
  moduleFailure,
  moduleSuccess,
  type Parameters,
  refuseModule,
} from './module-answer.ts'

/** Number of the block at a time: the last one not after it, or the first one not before it. */
export const blockActions: ModuleActions = {
  getblocknobytime: async ({ index }, parameters) => {
    const timestamp = integerParameter(parameters, 'timestamp', -1)
    const closest = parameters.get('closest') ?? 'before'
    if (timestamp < 0) throw refuseModule('Error! Invalid timestamp')
    const number = await index.blockAt(timestamp, closest === 'after' ? 'after' : 'before')
    return number === undefined ? moduleFailure('Error! No closest block found') : moduleSuccess(String(number))
  },
  getblockreward: async ({ index }, parameters) => {
    const number = integerParameter(parameters, 'blockno', -1)
    const block = number < 0 ? undefined : await index.block(number)
    if (block === undefined) return moduleFailure('Error! Block not found')
    return moduleSuccess({
      blockNumber: String(block.number),
      timeStamp: String(block.timestamp),
      blockMiner: block.miner,
      blockReward: (block.proposerWei + block.minerWei).toString(),
      uncles: [],
      uncleInclusionReward: '0',
    })
  },
}

export const statsActions: ModuleActions = {
  ethsupply: async context => moduleSuccess((await currentSupply(context)).supplyWei.toString()),
  tokensupply: async (context, parameters) => {
    const address = addressParameter(parameters, 'contractaddress')
    const token = (await context.index.token(address)) ?? { address, standard: 'ERC-20', supply: null }
    const supply = await tokenSupply(context, token)
    return supply === null ? moduleFailure('Error! No such token') : moduleSuccess(supply.toString())
  },
  ethprice: async ({ price, nowMs }) => {
    const view = await price.price()
    if (view.price === null) return moduleFailure('No price source has a price')
    const seconds = String(Math.floor(nowMs() / 1_000))
    return moduleSuccess({ ethbtc: '', ethbtc_timestamp: '', ethusd: String(view.price), ethusd_timestamp: seconds })
  },
}

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
