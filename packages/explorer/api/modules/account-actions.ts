import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import type { IncludedReceipt } from '../../chain/types.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import type { TokenStandard } from '../../store/records.ts'
import type { InternalRow, TransactionRow } from '../../store/sql/rows.ts'
import type { ApiContext } from '../api-route.ts'
import { accountState } from '../routes/addresses.ts'
import { tokenBalance } from '../token-reads.ts'
import {
  addressParameter,
  blockRange,
  hashParameter,
  type ModuleActions,
  type ModuleAnswer,
  moduleList,
  modulePage,
  moduleSuccess,
  optionalAddress,
  type Parameters,
  refuseModule,
  wholePage,
} from './module-answer.ts'

const MULTI_ADDRESSES = 20

const transactionResult = (row: TransactionRow, found: IncludedReceipt | undefined, head: number): object => ({
  blockNumber: String(row.blockNumber),
  timeStamp: String(row.timestamp),
  hash: row.hash,
  nonce: String(row.nonce),
  blockHash: row.blockHash,
  transactionIndex: String(row.index),
  from: row.from,
  to: row.to ?? '',
  value: row.value.toString(),
  gas: row.gas.toString(),
  gasPrice: row.gasPrice.toString(),
  isError: row.status === 1 ? '0' : '1',
  txreceipt_status: String(row.status),
  input: found ? bytesToHex(found.transaction.data) : (row.methodId ?? '0x'),
  contractAddress: row.created ?? '',
  cumulativeGasUsed: found?.receipt.cumulativeGasUsed.toString() ?? '',
  gasUsed: row.gasUsed.toString(),
  confirmations: String(head - row.blockNumber + 1),
  methodId: row.methodId ?? '0x',
  functionName: '',
})

/** Receipts that are read at once for a list. */
const RECEIPTS_TOGETHER = 8

/** Rows of a list with what only the chain has of them. Throws MODULE_REFUSAL when their calldata is too much for one answer. */
const transactionResults = async (
  { source }: ApiContext,
  rows: readonly TransactionRow[],
): Promise<readonly object[]> => {
  const head = (await source.headNumber()) ?? 0
  const results: object[] = []
  let bytes = 0
  for (let at = 0; at < rows.length; at += RECEIPTS_TOGETHER) {
    const some = rows.slice(at, at + RECEIPTS_TOGETHER)
    const found = await Promise.all(some.map(row => source.receipt(row.hash)))
    for (const [place, row] of some.entries()) {
      // Blocks of a development chain may have been taken back since they were indexed.
      const receipt = found[place]?.blockNumber === row.blockNumber ? found[place] : undefined
      bytes += receipt?.transaction.data.byteLength ?? 0
      results.push(transactionResult(row, receipt, head))
    }
    if (bytes > EXPLORER_LIMITS.api.inputBytes)
      throw refuseModule('Error! The transactions have too much input for one answer; take a smaller offset')
  }
  return results
}

const transactionList = async (context: ApiContext, parameters: Parameters): Promise<ModuleAnswer> => {
  const party = addressParameter(parameters, 'address')
  const filter = { party, ...(await blockRange(context, parameters)) }
  const rows = wholePage(parameters, await context.index.transactions(filter, modulePage(parameters)))
  return moduleList(await transactionResults(context, rows), 'No transactions found')
}

const internalResult = (row: InternalRow): object => ({
  blockNumber: String(row.blockNumber),
  timeStamp: String(row.timestamp),
  hash: row.transactionHash,
  from: row.from,
  to: row.kind === 'create' ? '' : row.to,
  value: row.value.toString(),
  contractAddress: row.kind === 'create' ? row.to : '',
  input: '',
  type: row.kind === 'selfdestruct' ? 'suicide' : row.kind,
  // Gas of single calls is not indexed.
  gas: '',
  gasUsed: '',
  traceId: String(row.position),
  // Only transfers that took effect are indexed.
  isError: '0',
  errCode: '',
})

/** Internal transfers of an address, of a transaction, or between two blocks. */
const internalList = async (context: ApiContext, parameters: Parameters): Promise<ModuleAnswer> => {
  const { index, source, rules } = context
  if (rules.tandem === undefined) throw refuseModule('Error! The node does not tell internal transfers')
  const empty = 'No transactions found'
  const page = modulePage(parameters)
  if ((parameters.get('txhash') ?? '') !== '') {
    const place = await source.locate(hashParameter(parameters, 'txhash'))
    const upTo = page.offset + page.limit
    const rows = place ? await index.internalOfTransaction(place.number, place.index, upTo + 1) : []
    const items = wholePage(parameters, { items: rows.slice(page.offset, upTo), next: rows[upTo] ?? null })
    return moduleList(items.map(internalResult), empty)
  }
  const party = optionalAddress(parameters, 'address')
  const filter = { ...(party && { party }), ...(await blockRange(context, parameters)) }
  const rows = wholePage(parameters, await index.internalTransfers(filter, page))
  return moduleList(rows.map(internalResult), empty)
}

const transferList =
  (standard: TokenStandard) =>
  async (context: ApiContext, parameters: Parameters): Promise<ModuleAnswer> => {
    const { index, source } = context
    const token = optionalAddress(parameters, 'contractaddress')
    const party = optionalAddress(parameters, 'address')
    if (token === undefined && party === undefined) throw refuseModule('Error! Missing address or contractaddress')
    const filter = {
      standard,
      ...(token && { token }),
      ...(party && { party }),
      ...(await blockRange(context, parameters)),
    }
    const page = modulePage(parameters)
    const found = await index.transfers(filter, page)
    const items = wholePage(parameters, found)
    // Those beyond have not been looked at: a short list would say that there are none.
    if (items.length < page.limit && found.next !== null)
      throw refuseModule('Result window is too large: take fewer pages, or narrow startblock to endblock')
    const head = (await source.headNumber()) ?? 0
    const results = items.map(async row => {
      const [transaction, found] = await Promise.all([
        index.transaction(row.blockNumber, row.transactionIndex),
        index.token(row.token),
      ])
      return {
        blockNumber: String(row.blockNumber),
        timeStamp: String(row.timestamp),
        hash: row.transactionHash,
        nonce: String(transaction?.nonce ?? 0),
        blockHash: transaction?.blockHash ?? '',
        from: row.from,
        contractAddress: row.token,
        to: row.to,
        ...(standard === 'ERC-20' ? { value: row.amount.toString() } : { tokenID: (row.tokenId ?? 0n).toString() }),
        ...(standard === 'ERC-1155' && { tokenValue: row.amount.toString() }),
        tokenName: found?.name ?? '',
        tokenSymbol: found?.symbol ?? '',
        tokenDecimal: String(found?.decimals ?? 0),
        transactionIndex: String(row.transactionIndex),
        gas: transaction?.gas.toString() ?? '0',
        gasPrice: transaction?.gasPrice.toString() ?? '0',
        gasUsed: transaction?.gasUsed.toString() ?? '0',
        logIndex: String(row.logIndex),
        confirmations: String(head - row.blockNumber + 1),
      }
    })
    return moduleList(await Promise.all(results), 'No transactions found')
  }

/** Balances are those of the head. Throws MODULE_REFUSAL for another block: its balance would be taken for the one asked for. */
const checkTag = (parameters: Parameters): void => {
  if (!['', 'latest', 'pending'].includes(parameters.get('tag')?.toLowerCase() ?? ''))
    throw refuseModule('Error! Balances are those of tag=latest; older ones by module=proxy&action=eth_getBalance')
}

export const accountActions: ModuleActions = {
  balance: async (context, parameters) => {
    checkTag(parameters)
    const { balance } = await accountState(context, addressParameter(parameters, 'address'))
    return moduleSuccess(balance.toString())
  },
  balancemulti: async (context, parameters) => {
    checkTag(parameters)
    const texts = (parameters.get('address') ?? '').split(',')
    if (texts.length > MULTI_ADDRESSES) throw refuseModule(`Error! Maximum of ${MULTI_ADDRESSES} addresses`)
    const addresses = texts.map(text => addressParameter(new Map([['address', text.trim()]]), 'address'))
    const balances = addresses.map(async (account: Hex) => ({
      account,
      balance: (await accountState(context, account)).balance.toString(),
    }))
    return moduleSuccess(await Promise.all(balances))
  },
  txlist: transactionList,
  txlistinternal: internalList,
  tokentx: transferList('ERC-20'),
  tokennfttx: transferList('ERC-721'),
  token1155tx: transferList('ERC-1155'),
  tokenbalance: async (context, parameters) => {
    const owner = addressParameter(parameters, 'address')
    const address = addressParameter(parameters, 'contractaddress')
    const [token, sum] = await Promise.all([context.index.token(address), context.index.balanceOf(address, owner)])
    const balance = await tokenBalance(context, { address, standard: token?.standard ?? 'ERC-20' }, owner, sum ?? 0n)
    if (balance === null) throw refuseModule('Error! The balance is unknown: the contract does not tell it')
    return moduleSuccess(balance.toString())
  },
  getminedblocks: async (context, parameters) => {
    const miner = addressParameter(parameters, 'address')
    const range = await blockRange(context, parameters)
    const page = modulePage(parameters, 'desc')
    const blocks = wholePage(parameters, await context.index.blocksBy('miner', miner, page, range))
    const rows = blocks.map(({ number, timestamp, minerWei }) => ({
      blockNumber: String(number),
      timeStamp: String(timestamp),
      blockReward: minerWei.toString(),
    }))
    return moduleList(rows, 'No blocks found')
  },
}
