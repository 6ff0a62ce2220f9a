import type { Hex } from '@tandem/base/bytes.ts'
import { checksumAddress } from '../../keccak.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import type { ProducerRow, TokenRow } from '../../store/sql/rows.ts'
import { delegationTarget } from '../../verification/proxies.ts'
import type { ApiContext, ApiRoute } from '../api-route.ts'
import { checksumOrNull, formatWei, percentOf } from '../format.ts'
import { ADDRESS, pageOfShape } from '../json-schema.ts'
import { type ListQuery, PAGE_QUERY, pageBody, pageRequest } from '../paging.ts'
import {
  ADDRESS_SHAPE,
  INTERNAL_ITEM_SHAPE,
  TOP_ACCOUNT_SHAPE,
  TRANSACTION_ITEM_SHAPE,
  TRANSFER_ITEM_SHAPE,
} from '../shapes.ts'
import { tokenBalance } from '../token-reads.ts'
import { currentSupply } from './economy.ts'
import { addressInternalBody } from './internal-transfers.ts'
import { addressTransactionsBody } from './transactions.ts'
import { addressTransfersBody, tokenReference } from './transfers.ts'

export const ADDRESS_PARAMETER = { address: { ...ADDRESS, description: 'An address, in any case' } }
export const addressOfPath = (params: Readonly<Record<string, string>>): Hex =>
  (params['address'] as string).toLowerCase() as Hex

/** Account values in the head's state. */
export const accountState = async (
  { source }: Pick<ApiContext, 'source'>,
  address: Hex,
): Promise<{
  readonly balance: bigint
  readonly nonce: number
  readonly hasCode: boolean
  readonly delegatedTo: string | null
}> => {
  const [{ balance, nonce }, code] = await Promise.all([source.state.account(address), source.state.code(address)])
  const delegate = delegationTarget(code)
  const hasCode = code.byteLength > 0 && delegate === undefined
  return { balance, nonce: Number(nonce), hasCode, delegatedTo: checksumOrNull(delegate ?? null) }
}

const standardReference = (token: TokenRow) => ({
  ...tokenReference(token.address, token),
  standard: token.standard,
})

const rolesOf = ({ rules }: ApiContext, address: Hex, producer: ProducerRow | undefined): readonly string[] => [
  ...(rules.tandem !== undefined && (producer?.proposed ?? 0) > 0 ? ['union'] : []),
  ...((producer?.mined ?? 0) > 0 ? ['miner'] : []),
  ...(address === rules.tandem?.foundation ? ['foundation'] : []),
]

export const addressBody = async (context: ApiContext, address: Hex) => {
  const { index } = context
  const [state, account, producer, token, label, balances, verified] = await Promise.all([
    accountState(context, address),
    index.account(address),
    index.producer(address),
    index.token(address),
    index.label(address),
    index.tokenBalances(address, EXPLORER_LIMITS.api.tokenBalances),
    context.verification.verifier.verified(address),
  ])
  return {
    address: checksumAddress(address),
    balance: state.balance.toString(),
    balanceFormatted: formatWei(state.balance),
    transactionCount: account?.transactions ?? 0,
    nonce: state.nonce,
    isContract: state.hasCode,
    delegatedTo: state.delegatedTo,
    label: label ?? null,
    isVerified: verified !== undefined,
    contractName: verified?.name ?? null,
    creator: checksumOrNull(account?.creator ?? null),
    creationTransaction: account?.creationTransaction ?? null,
    token: token ? standardReference(token) : null,
    tokenBalances: await Promise.all(
      balances.map(async ({ token, balance }) => ({
        token: standardReference(token),
        balance: (await tokenBalance(context, token, address, balance))?.toString() ?? null,
      })),
    ),
    tokenTransferCount: account?.transfers ?? 0,
    internalTransferCount: account?.internal ?? 0,
    minedBlocks: producer?.mined ?? 0,
    proposedBlocks: producer?.proposed ?? 0,
    firstSeenBlock: account?.firstBlock ?? null,
    lastSeenBlock: account?.lastBlock ?? null,
    roles: rolesOf(context, address, producer),
  }
}

/** A page of accounts by number of transactions. Throws INVALID_PARAMETER. */
export const topAccountsBody = async (context: ApiContext, query: ListQuery) => {
  const { index } = context
  const request = pageRequest(query, ['number', 'address'])
  const page = await index.topAccounts(request)
  const supply = context.rules.tandem && (await currentSupply(context))
  const items = page.items.map(async ({ address, transactions }, at) => {
    const [{ balance, hasCode }, label] = await Promise.all([accountState(context, address), index.label(address)])
    return {
      rank: request.after === null ? request.offset + at + 1 : null,
      address: checksumAddress(address),
      label: label ?? null,
      isContract: hasCode,
      transactionCount: transactions,
      balance: balance.toString(),
      percentOfSupply: supply === undefined ? null : percentOf(balance, supply.supplyWei),
    }
  })
  return pageBody(page, await Promise.all(items), request, (await index.counters()).addresses)
}

export const addressRoutes: readonly ApiRoute[] = [
  {
    path: '/api/addresses/:address',
    summary: 'Balance, counts and tokens of an address; zeros for one without history',
    params: ADDRESS_PARAMETER,
    result: ADDRESS_SHAPE,
    needsIndex: true,
    handler: (context, { params }) => addressBody(context, addressOfPath(params)),
  },
  {
    path: '/api/addresses/:address/transactions',
    summary: 'Transactions an address sent or received, newest first',
    params: ADDRESS_PARAMETER,
    query: PAGE_QUERY,
    result: pageOfShape(TRANSACTION_ITEM_SHAPE),
    needsIndex: true,
    handler: (context, { params, query }) => addressTransactionsBody(context, addressOfPath(params), query),
  },
  {
    path: '/api/addresses/:address/transfers',
    summary: 'Token transfers from or to an address, newest first',
    params: ADDRESS_PARAMETER,
    query: PAGE_QUERY,
    result: pageOfShape(TRANSFER_ITEM_SHAPE),
    needsIndex: true,
    handler: (context, { params, query }) => addressTransfersBody(context, addressOfPath(params), query),
  },
  {
    path: '/api/addresses/:address/internal',
    summary: 'Wei that contracts moved from or to an address, and contracts created, newest first',
    params: ADDRESS_PARAMETER,
    query: PAGE_QUERY,
    result: pageOfShape(INTERNAL_ITEM_SHAPE),
    needsIndex: true,
    handler: (context, { params, query }) => addressInternalBody(context, addressOfPath(params), query),
  },
  {
    path: '/api/top-accounts',
    summary: 'Accounts by number of transactions',
    query: PAGE_QUERY,
    result: pageOfShape(TOP_ACCOUNT_SHAPE),
    needsIndex: true,
    handler: (context, { query }) => topAccountsBody(context, query),
  },
]
