import { isoTime } from '@tandem/web/times.ts'
import type { ListBody, ListQuery } from '../../api/paging.ts'
import { topAccountsBody } from '../../api/routes/addresses.ts'
import { blocksBody, producedBlocksBody } from '../../api/routes/blocks.ts'
import { addressInternalBody } from '../../api/routes/internal-transfers.ts'
import { statsBody } from '../../api/routes/statistics.ts'
import { tokenBody, tokensBody } from '../../api/routes/tokens.ts'
import { addressTransactionsBody, transactionsBody } from '../../api/routes/transactions.ts'
import { addressTransfersBody, tokenTransfersBody } from '../../api/routes/transfers.ts'
import { plainText } from '../../chain/plain-text.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import { TRANSACTION_KINDS } from '../../store/records.ts'
import { listQuery } from '../list-query.ts'
import type { ExplorerPageRequest, PageContext, PageFile, PageRoute } from '../page-route.ts'
import { addressOfPage } from './addresses.ts'

/** Cell of a table as a file has it. */
type CsvValue = string | number | null

const CELL_CHARS = 256
/** Spreadsheets take what begins so as a formula. */
const FORMULA = /^[=+\-@\t\r]/

/** A cell: without invisible characters, never a formula, in quotes where it must be (RFC 4180). */
const cellText = (value: CsvValue): string => {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const shown = plainText(value, CELL_CHARS) ?? ''
  const text = FORMULA.test(shown) ? `'${shown}` : shown
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A table as comma-separated values. */
const csvText = (columns: readonly string[], rows: readonly (readonly CsvValue[])[]): string =>
  [columns, ...rows].map(row => `${row.map(cellText).join(',')}\r\n`).join('')

/** A list of the explorer as a table of a file. */
interface CsvList {
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
const CSV_LISTS: Readonly<Record<string, CsvList>> = {
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
      rowsOf(await addressTransactionsBody(context, addressOfPage(request), query), transactionRow),
  },
  '/address/:address/transfers': {
    columns: TRANSFER_COLUMNS,
    page: async (context, request, query) =>
      rowsOf(await addressTransfersBody(context, addressOfPage(request), query), transferRow),
  },
  '/address/:address/internal': {
    columns: ['transaction', 'block', 'time', 'kind', 'from', 'to', 'value (wei)'],
    page: async (context, request, query) =>
      rowsOf(await addressInternalBody(context, addressOfPage(request), query), item => [
        ...[item.transactionHash, item.blockNumber, isoTime(item.timestamp), item.type],
        ...[item.from, item.to, item.value],
      ]),
  },
  '/address/:address/blocks': {
    columns: BLOCK_COLUMNS,
    page: async (context, request, query) => {
      const role = request.query['role'] === 'miner' ? 'miner' : 'proposer'
      return rowsOf(await producedBlocksBody(context, role, addressOfPage(request), query), blockRow)
    },
  },
  '/token/:address/transfers': {
    columns: TRANSFER_COLUMNS,
    page: async (context, request, query) =>
      rowsOf(await tokenTransfersBody(context, addressOfPage(request), query), transferRow),
  },
  '/token/:address/holders': {
    columns: ['address', 'label', 'balance (units)', 'percent'],
    page: async (context, request, query) =>
      rowsOf(
        (await tokenBody(context, addressOfPage(request), query)).holders,
        ({ address, label, balance, percent }) => [address, label, balance, percent],
      ),
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

const { csvRows, maxLimit, days } = EXPLORER_LIMITS.api

/** Name of a file from the path of its list: only letters, digits and dashes. */
const fileName = (path: string): string => `${path.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-|-$/g, '')}.csv`

/** Rows from a cursor on, as many as a file has. */
const listFile = async (list: CsvList, context: PageContext, request: ExplorerPageRequest): Promise<PageFile> => {
  const rows: (readonly CsvValue[])[] = []
  let { cursor } = listQuery(request)
  while (rows.length < csvRows) {
    const page = await list.page(context, request, { limit: maxLimit, ...(cursor !== undefined && { cursor }) })
    rows.push(...page.items)
    if (page.nextCursor === null) break
    cursor = page.nextCursor
  }
  const [, name = ''] = request.path.split('/csv/')
  return { file: fileName(name), type: 'text/csv; charset=utf-8', text: csvText(list.columns, rows) }
}

const statsFile = async (context: PageContext): Promise<PageFile> => {
  const body = await statsBody(context, days.max)
  const columns = [
    ...['day (UTC)', 'transactions', 'active addresses', 'new addresses', 'new contracts', 'gas used'],
    ...['average gas price (wei)', 'fees (wei)', 'burnt (wei)', 'value (wei)', 'time between blocks (s)'],
  ]
  const rows = body.days.map(day => [
    ...[day.date, day.transactions, day.activeAddresses, day.newAddresses, day.newContracts, day.gasUsed],
    ...[day.averageGasPrice, day.feesWei, day.burntWei, day.volumeWei, day.averageBlockTime],
  ])
  return { file: 'statistics.csv', type: 'text/csv; charset=utf-8', text: csvText(columns, rows) }
}

export const exportPages: readonly PageRoute[] = [
  ...Object.entries(CSV_LISTS).map(
    ([path, list]): PageRoute => ({
      path: `/csv${path}`,
      needsIndex: true,
      render: (context, request) => listFile(list, context, request),
    }),
  ),
  { path: '/csv/stats', needsIndex: true, render: context => statsFile(context) },
]
