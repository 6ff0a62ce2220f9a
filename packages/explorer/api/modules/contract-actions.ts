import { addressParameter, type ModuleActions, moduleList, refuseModule } from './module-answer.ts'
import { verificationActions } from './verification-actions.ts'

const MAX_ADDRESSES = 5

export const contractActions: ModuleActions = {
  ...verificationActions,
  getcontractcreation: async ({ index, source }, parameters) => {
    const texts = (parameters.get('contractaddresses') ?? '').split(',')
    if (texts.length > MAX_ADDRESSES) throw refuseModule(`Error! Maximum of ${MAX_ADDRESSES} addresses`)
    const found = texts.map(async text => {
      const address = addressParameter(new Map([['address', text.trim()]]), 'address')
      const account = await index.account(address)
      if (!account?.creator || !account.creationTransaction) return []
      const place = await source.locate(account.creationTransaction)
      const row = place && (await index.transaction(place.number, place.index))
      return [
        {
          contractAddress: address,
          contractCreator: row?.from ?? account.creator,
          txHash: account.creationTransaction,
          blockNumber: String(row?.blockNumber ?? account.firstBlock),
          timestamp: String(row?.timestamp ?? 0),
          contractFactory: row === undefined || row.from === account.creator ? '' : account.creator,
          creationBytecode: '',
        },
      ]
    })
    return moduleList((await Promise.all(found)).flat(), 'No data found')
  },
}
