import type { Hex } from '@tandem/base/bytes.ts'
import { checksumAddress } from '../../keccak.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import type { InternalFilter } from '../../store/index-query.ts'
import type { InternalTransfer } from '../../store/records.ts'
import type { InternalRow } from '../../store/sql/rows.ts'
import { type ApiContext, type ApiRoute, tandemOf } from '../api-route.ts'
import { pageOfShape } from '../json-schema.ts'
import { type ListQuery, PAGE_QUERY, pageBody, pageRequest } from '../paging.ts'
import { INTERNAL_ITEM_SHAPE } from '../shapes.ts'

const internalTransferBody = ({ kind, from, to, value }: InternalTransfer) => ({
  type: kind,
  from: checksumAddress(from),
  to: checksumAddress(to),
  value: value.toString(),
})

/** Internal transfers of a transaction in order; null: the index does not have its block yet, or the node knows of none. */
export const internalTransfersOf = async ({ index, rules }: ApiContext, number: number, at: number) => {
  if (rules.tandem === undefined || ((await index.position())?.number ?? -1) < number) return null
  const rows = await index.internalOfTransaction(number, at, EXPLORER_LIMITS.api.transfers)
  return rows.map(internalTransferBody)
}

const internalItem = (row: InternalRow) => ({
  transactionHash: row.transactionHash,
  blockNumber: row.blockNumber,
  timestamp: row.timestamp,
  transactionIndex: row.transactionIndex,
  position: row.position,
  ...internalTransferBody(row),
})

const internalTransfersBody = async (context: ApiContext, filter: InternalFilter, query: ListQuery, total: number) => {
  const request = pageRequest(query, ['number', 'number', 'number'])
  tandemOf(context)
  const page = await context.index.internalTransfers(filter, request)
  return pageBody(page, page.items.map(internalItem), request, total)
}

/** A page of internal transfers from or to an address, newest first. Throws INVALID_PARAMETER. */
export const addressInternalBody = async (context: ApiContext, party: Hex, query: ListQuery) =>
  internalTransfersBody(context, { party }, query, (await context.index.account(party))?.internal ?? 0)

export const internalTransferRoutes: readonly ApiRoute[] = [
  {
    path: '/api/internal-transfers',
    summary: 'Wei that contracts moved, and contracts that they created, newest first',
    query: PAGE_QUERY,
    result: pageOfShape(INTERNAL_ITEM_SHAPE),
    needsIndex: true,
    handler: async (context, { query }) =>
      internalTransfersBody(context, {}, query, (await context.index.counters()).internal),
  },
]
