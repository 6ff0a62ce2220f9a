import { currentSupply } from '../routes/economy.ts'
import { tokenSupply } from '../token-reads.ts'
import { addressParameter, type ModuleActions, moduleFailure, moduleSuccess } from './module-answer.ts'

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
