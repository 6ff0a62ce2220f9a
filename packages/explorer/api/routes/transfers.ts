import type { Hex } from '@tandem/base/bytes.ts'
import { checksumAddress } from '../../keccak.ts'
import type { TransferFilter } from '../../store/index-query.ts'
import type { TransferRecord } from '../../store/records.ts'
import type { TokenRow, TransferRow } from '../../store/sql/rows.ts'
import type { ApiContext } from '../api-route.ts'
import { type ListQuery, pageBody, pageRequest } from '../paging.ts'

export const tokenReference = (address: Hex, token: TokenRow | undefined) => ({
  address: checksumAddress(address),
  name: token?.name ?? null,
  symbol: token?.symbol ?? null,
  decimals: token?.decimals ?? null,
})

/** Members of a movement of a token. */
export const movementBody = (
  { logIndex, standard, from, to, amount, tokenId }: Omit<TransferRecord, 'token' | 'position' | 'transactionIndex'>,
  token: ReturnType<typeof tokenReference>,
) => ({
  logIndex,
  standard,
  token,
  from: checksumAddress(from),
  to: checksumAddress(to),
  amount: amount.toString(),
  tokenId: tokenId === null ? null : tokenId.toString(),
})

const transferItem = async ({ index }: ApiContext, row: TransferRow) => ({
  transactionHash: row.transactionHash,
  blockNumber: row.blockNumber,
  timestamp: row.timestamp,
  ...movementBody(row, tokenReference(row.token, await index.token(row.token))),
})

export type TransferItem = Awaited<ReturnType<typeof transferItem>>

const transfersBody = async (context: ApiContext, filter: TransferFilter, query: ListQuery, total: number) => {
  const request = pageRequest(query, ['number', 'number', 'number'])
  const page = await context.index.transfers(filter, request)
  return pageBody(page, await Promise.all(page.items.map(row => transferItem(context, row))), request, total)
}

/** A page of token transfers from or to an address, newest first. Throws INVALID_PARAMETER. */
export const addressTransfersBody = async (context: ApiContext, party: Hex, query: ListQuery) =>
  transfersBody(context, { party }, query, (await context.index.account(party))?.transfers ?? 0)

/** A page of transfers of a token, newest first. Throws INVALID_PARAMETER. */
export const tokenTransfersBody = async (context: ApiContext, token: Hex, query: ListQuery) =>
  transfersBody(context, { token }, query, (await context.index.token(token))?.transfers ?? 0)
