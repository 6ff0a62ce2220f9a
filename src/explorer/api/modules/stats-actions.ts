import { mintedUpTo } from '../../../rules/money/supply.ts'
import { tokenSupply } from '../token-reads.ts'
import { addressParameter, type ModuleActions, moduleFailure, moduleSuccess } from './module-answer.ts'

export const statsActions: ModuleActions = {
  ethsupply: async ({ source, params, genesisWei }) =>
    moduleSuccess((genesisWei + mintedUpTo((await source.headNumber()) ?? 0, params.rewards)).toString()),
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
