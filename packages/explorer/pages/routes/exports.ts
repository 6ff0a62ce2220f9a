import { statsBody } from '../../api/routes/statistics.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import { type CsvValue, csvText } from '../csv/csv.ts'
import { CSV_LISTS, type CsvList } from '../csv/csv-lists.ts'
import { listQuery } from '../list-query.ts'
import type { ExplorerPageRequest, PageContext, PageFile, PageRoute } from '../page-route.ts'
import { addressOfPage } from './addresses.ts'

const { csvRows, maxLimit, days } = EXPLORER_LIMITS.api

/** Name of a file from the path of its list: only letters, digits and dashes. */
const fileName = (path: string): string => `${path.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-|-$/g, '')}.csv`

/** Rows from a cursor on, as many as a file has. */
const listFile = async (list: CsvList, context: PageContext, request: ExplorerPageRequest): Promise<PageFile> => {
  if (request.params['address'] !== undefined) addressOfPage(request)
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
