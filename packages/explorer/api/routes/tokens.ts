import type { Hex } from '@tandem/base/bytes.ts'
import { checksumAddress } from '../../keccak.ts'
import type { TokenRow } from '../../store/sql/rows.ts'
import { notFound } from '../api-error.ts'
import type { ApiContext, ApiRoute } from '../api-route.ts'
import { checksumOrNull, percentOf } from '../format.ts'
import { pageOfShape } from '../json-schema.ts'
import { type ListQuery, PAGE_QUERY, pageBody, pageRequest } from '../paging.ts'
import { TOKEN_ITEM_SHAPE, TOKEN_SHAPE, TRANSFER_ITEM_SHAPE } from '../shapes.ts'
import { tokenBalance, tokenSupply } from '../token-reads.ts'
import { ADDRESS_PARAMETER, addressOfPath } from './addresses.ts'
import { tokenTransfersBody } from './transfers.ts'

const tokenItem = async (context: ApiContext, token: TokenRow) => ({
  address: checksumAddress(token.address),
  name: token.name,
  symbol: token.symbol,
  decimals: token.decimals,
  standard: token.standard,
  totalSupply: (await tokenSupply(context, token))?.toString() ?? null,
  holderCount: token.holders,
  transferCount: token.transfers,
  verified: await context.verification.verifier.isVerified(token.address),
  logoURI: null,
})

/** A token with a page of its holders. Throws NOT_FOUND and INVALID_PARAMETER. */
export const tokenBody = async (context: ApiContext, address: Hex, query: ListQuery) => {
  const { index } = context
  const request = pageRequest(query, ['decimal', 'address'])
  const [token, account] = await Promise.all([index.token(address), index.account(address)])
  if (token === undefined) throw notFound(`${checksumAddress(address)} is no token that has moved`)
  const [page, item] = await Promise.all([index.holders(address, request), tokenItem(context, token)])
  const supply = BigInt(item.totalSupply ?? 0)
  const holders = page.items.map(async ({ owner, balance: sum }, at) => {
    const balance = await tokenBalance(context, token, owner, sum)
    return {
      rank: request.after === null ? request.offset + at + 1 : null,
      address: checksumAddress(owner),
      balance: balance?.toString() ?? null,
      percent: supply === 0n || balance === null ? null : percentOf(balance, supply),
      label: (await index.label(owner)) ?? null,
    }
  })
  return {
    ...item,
    creator: checksumOrNull(account?.creator ?? null),
    creationTransaction: account?.creationTransaction ?? null,
    holders: pageBody(page, await Promise.all(holders), request, token.holders),
  }
}

/** A page of tokens by number of transfers. Throws INVALID_PARAMETER. */
export const tokensBody = async (context: ApiContext, query: ListQuery) => {
  const { index } = context
  const request = pageRequest(query, ['number', 'address'])
  const page = await index.tokens(request)
  return pageBody(
    page,
    await Promise.all(page.items.map(token => tokenItem(context, token))),
    request,
    (await index.counters()).tokens,
  )
}

export const tokenRoutes: readonly ApiRoute[] = [
  {
    path: '/api/tokens',
    summary: 'Tokens by number of transfers',
    query: PAGE_QUERY,
    result: pageOfShape(TOKEN_ITEM_SHAPE),
    needsIndex: true,
    handler: (context, { query }) => tokensBody(context, query),
  },
  {
    path: '/api/tokens/:address',
    summary: 'One token with a page of its holders, the largest first',
    params: ADDRESS_PARAMETER,
    query: PAGE_QUERY,
    result: TOKEN_SHAPE,
    needsIndex: true,
    handler: (context, { params, query }) => tokenBody(context, addressOfPath(params), query),
  },
  {
    path: '/api/tokens/:address/transfers',
    summary: 'Transfers of a token, newest first',
    params: ADDRESS_PARAMETER,
    query: PAGE_QUERY,
    result: pageOfShape(TRANSFER_ITEM_SHAPE),
    needsIndex: true,
    handler: (context, { params, query }) => tokenTransfersBody(context, addressOfPath(params), query),
  },
]
