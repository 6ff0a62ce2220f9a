import type { Hex } from '@tandem/base/bytes.ts'
import { isoTime } from '@tandem/web/times.ts'
import type { ListBody, ListQuery } from '../../api/paging.ts'
import { topAccountsBody } from '../../api/routes/addresses.ts'
import { blocksBody, producedBlocksBody } from '../../api/routes/blocks.ts'
import { addressInternalBody } from '../../api/routes/internal-transfers.ts'
import { tokenBody, tokensBody } from '../../api/routes/tokens.ts'
import { addressTransactionsBody, transactionsBody } from '../../api/routes/transactions.ts'
import { addressTransfersBody, tokenTransfersBody } from '../../api/routes/transfers.ts'
import { TRANSACTION_KINDS } from '../../store/records.ts'
import type { ExplorerPageRequest, PageContext } from '../page-route.ts'
import type { CsvValue } from './csv.ts'

/** A list of the explorer as a table of a file. */
export interface CsvList {
  readonly columns: readonly string[]
  /** A page of rows, as the API pages the list. */
  page(
    context: PageContext,
    request: ExplorerPageRequest,
    query: ListQuery,
  ): Promise<Pick<ListBody<readonly CsvValue[]>, 'items' | 'nextCursor'>>
}

const rowsOf = <T>(
  { items, nextCursor }: ListBody<T>,
  row: (item: T) => readonly CsvValue[],
): Pick<ListBody<readonly CsvValue[]>, 'items' | 'nextCursor'> => ({ items: items.map(row), nextCursor })

const addressOf = ({ params }: ExplorerPageRequest): Hex => (params['address'] as string).toLowerCase() as Hex

type BlockItem = Awaited<ReturnType<typeof blocksBody>>['items'][number]
const blockRow = (block: BlockItem): readonly CsvValue[] => [
  block.number,
  isoTime(block.timestamp),
  block.transactionCount,
  block.gasUsed,
  block.baseFeePerGas,
  block.feesWei,
  block.burntWei,
  block.proposer,
  block.miner,
  block.hash,
]

type TransactionItem = Awaited<ReturnType<typeof transactionsBody>>['items'][number]
const TRANSACTION_COLUMNS = [
  ...['hash', 'block', 'time', 'from', 'to', 'contract created', 'value (wei)', 'fee (wei)'],
  ...['gas used', 'gas price (wei)', 'status', 'method'],
]
const transactionRow = (item: TransactionItem): readonly CsvValue[] => [
  item.hash,
  item.blockNumber,
  isoTime(item.timestamp),
  item.from,
  item.to,
  item.contractAddress,
  item.value,
  item.feeWei,
  item.gasUsed,
  item.gasPrice,
  item.status === 1 ? 'success' : 'failed',
  item.method ?? item.methodId ?? item.txType,
]

type TransferItem = Awaited<ReturnType<typeof tokenTransfersBody>>['items'][number]
const TRANSFER_COLUMNS = [
  ...['transaction', 'block', 'time', 'standard', 'token', 'symbol', 'decimals', 'from', 'to'],
  ...['amount (units)', 'token id'],
]
const transferRow = (item: TransferItem): readonly CsvValue[] => [
  item.transactionHash,
  item.blockNumber,
  isoTime(item.timestamp),
  item.standard,
  item.token.address,
  item.token.symbol,
  item.token.decimals,
  item.from,
  item.to,
  item.amount,
  item.tokenId,
]

const BLOCK_COLUMNS = [
  ...['number', 'time', 'transactions', 'gas used', 'base fee (wei)', 'fees (wei)', 'burnt (wei)'],
  ...['proposer', 'miner', 'hash'],
]

/** Lists by their path below /csv. */
export const CSV_LISTS: Readonly<Record<string, CsvList>> = {
  '/blocks': {
    columns: BLOCK_COLUMNS,
    page: async (context, _request, query) => rowsOf(await blocksBody(context, query), blockRow),
  },
  '/txs': {
    columns: TRANSACTION_COLUMNS,
    page: async (context, request, query) => {
      const kind = TRANSACTION_KINDS.find(name => name === request.query['kind'])
      return rowsOf(await transactionsBody(context, { ...query, ...(kind && { txType: kind }) }), transactionRow)
    },
  },
  '/address/:address/transactions': {
    columns: TRANSACTION_COLUMNS,
    page: async (context, request, query) =>
      rowsOf(await addressTransactionsBody(context, addressOf(request), query), transactionRow),
  },
  '/address/:address/transfers': {
    columns: TRANSFER_COLUMNS,
    page: async (context, request, query) =>
      rowsOf(await addressTransfersBody(context, addressOf(request), query), transferRow),
  },
  '/address/:address/internal': {
    columns: ['transaction', 'block', 'time', 'kind', 'from', 'to', 'value (wei)'],
    page: async (context, request, query) =>
      rowsOf(await addressInternalBody(context, addressOf(request), query), item => [
        ...[item.transactionHash, item.blockNumber, isoTime(item.timestamp), item.type],
        ...[item.from, item.to, item.value],
      ]),
  },
  '/address/:address/blocks': {
    columns: BLOCK_COLUMNS,
    page: async (context, request, query) => {
      const role = request.query['role'] === 'miner' ? 'miner' : 'proposer'
      return rowsOf(await producedBlocksBody(context, role, addressOf(request), query), blockRow)
    },
  },
  '/token/:address/transfers': {
    columns: TRANSFER_COLUMNS,
    page: async (context, request, query) =>
      rowsOf(await tokenTransfersBody(context, addressOf(request), query), transferRow),
  },
  '/token/:address/holders': {
    columns: ['address', 'label', 'balance (units)', 'percent'],
    page: async (context, request, query) =>
      rowsOf((await tokenBody(context, addressOf(request), query)).holders, ({ address, label, balance, percent }) => [
        address,
        label,
        balance,
        percent,
      ]),
  },
  '/accounts': {
    columns: ['address', 'label', 'contract', 'transactions', 'balance (wei)', 'percent of the supply'],
    page: async (context, _request, query) =>
      rowsOf(await topAccountsBody(context, query), account => [
        account.address,
        account.label,
        account.isContract ? 'yes' : 'no',
        account.transactionCount,
        account.balance,
        account.percentOfSupply,
      ]),
  },
  '/tokens': {
    columns: ['address', 'name', 'symbol', 'decimals', 'standard', 'supply (units)', 'holders', 'transfers'],
    page: async (context, _request, query) =>
      rowsOf(await tokensBody(context, query), token => [
        token.address,
        token.name,
        token.symbol,
        token.decimals,
        token.standard,
        token.totalSupply,
        token.holderCount,
        token.transferCount,
      ]),
  },
}
