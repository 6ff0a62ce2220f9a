import { mintedUpTo } from '../../../rules/money/supply.ts'
import { addressParameter, type ModuleActions, moduleFailure, moduleSuccess } from './module-answer.ts'

export const statsActions: ModuleActions = {
  ethsupply: async ({ source, params, genesisWei }) =>
    moduleSuccess((genesisWei + mintedUpTo((await source.headNumber()) ?? 0, params.rewards)).toString()),
  tokensupply: async ({ index }, parameters) => {
    const token = await index.token(addressParameter(parameters, 'contractaddress'))
    return token?.supply == null ? moduleFailure('Error! No such token') : moduleSuccess(token.supply.toString())
  },
  ethprice: async ({ price, nowMs }) => {
    const view = await price.price()
    if (view.price === null) return moduleFailure('No price source has a price')
    const seconds = String(Math.floor(nowMs() / 1_000))
    return moduleSuccess({ ethbtc: '', ethbtc_timestamp: '', ethusd: String(view.price), ethusd_timestamp: seconds })
  },
}
