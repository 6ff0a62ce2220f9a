import { EXPLORER_LIMITS } from '../../../config/limits/explorer.ts'
import { checksumAddress } from '../../../crypto/checksum.ts'
import { mintedUpTo } from '../../../rules/money/supply.ts'
import { EMPTY_CODE_HASH } from '../../../state/account.ts'
import type { Hex } from '../../../util/bytes.ts'
import type { ProducerRow, TokenRow, TransferRow } from '../../store/index-store.ts'
import type { ApiContext, ApiRoute } from '../api-route.ts'
import { checksumOrNull, formatWei, percentOf } from '../format.ts'
import { ADDRESS, pageOfShape } from '../json-schema.ts'
import { PAGE_QUERY, pageBody, pageRequest } from '../paging.ts'
import {
  ADDRESS_SHAPE,
  CONTRACT_STATUS_SHAPE,
  TOP_ACCOUNT_SHAPE,
  TRANSACTION_ITEM_SHAPE,
  TRANSFER_ITEM_SHAPE,
} from '../shapes.ts'
import { tokenReference, transactionItem } from './transactions.ts'

export const ADDRESS_PARAMETER = { address: { ...ADDRESS, description: 'An address, in any case' } }
export const addressOfPath = (params: Readonly<Record<string, string>>): Hex =>
  (params['address'] as string).toLowerCase() as Hex

/** Account values in the head's state. */
export const accountState = async (
  { source }: Pick<ApiContext, 'source'>,
  address: Hex,
): Promise<{ readonly balance: bigint; readonly nonce: number; readonly hasCode: boolean }> => {
  const account = await source.onState(state => state.account(address))
  return {
    balance: account?.balance ?? 0n,
    nonce: Number(account?.nonce ?? 0),
    hasCode: account !== undefined && account.codeHash !== EMPTY_CODE_HASH,
  }
}

const standardReference = (token: TokenRow): object => ({
  ...tokenReference(token.address, token),
  standard: token.standard,
})

const rolesOf = ({ foundation }: ApiContext, address: Hex, producer: ProducerRow | undefined): readonly string[] => [
  ...((producer?.proposed ?? 0) > 0 ? ['union'] : []),
  ...((producer?.mined ?? 0) > 0 ? ['miner'] : []),
  ...(address === foundation ? ['foundation'] : []),
]

const addressBody = async (context: ApiContext, address: Hex): Promise<object> => {
  const { index } = context
  const [state, account, producer, token, label, balances] = await Promise.all([
    accountState(context, address),
    index.account(address),
    index.producer(address),
    index.token(address),
    index.label(address),
    index.tokenBalances(address, EXPLORER_LIMITS.api.tokenBalances),
  ])
  return {
    address: checksumAddress(address),
    balance: state.balance.toString(),
    balanceFormatted: formatWei(state.balance),
    transactionCount: account?.transactions ?? 0,
    nonce: state.nonce,
    isContract: state.hasCode,
    label: label ?? null,
    isVerified: false,
    contractName: null,
    creator: checksumOrNull(account?.creator ?? null),
    creationTransaction: account?.creationTransaction ?? null,
    token: token ? standardReference(token) : null,
    tokenBalances: balances.map(row => ({ token: standardReference(row.token), balance: row.balance.toString() })),
    tokenTransferCount: account?.transfers ?? 0,
    minedBlocks: producer?.mined ?? 0,
    proposedBlocks: producer?.proposed ?? 0,
    firstSeenBlock: account?.firstBlock ?? null,
    lastSeenBlock: account?.lastBlock ?? null,
    roles: rolesOf(context, address, producer),
  }
}

export const transferItem = async ({ index }: ApiContext, row: TransferRow): Promise<object> => ({
  transactionHash: row.transactionHash,
  blockNumber: row.blockNumber,
  timestamp: row.timestamp,
  logIndex: row.logIndex,
  standard: row.standard,
  token: tokenReference(row.token, await index.token(row.token)),
  from: checksumAddress(row.from),
  to: checksumAddress(row.to),
  amount: row.amount.toString(),
  tokenId: row.tokenId === null ? null : row.tokenId.toString(),
})

const topAccounts = async (context: ApiContext, query: Readonly<Record<string, unknown>>): Promise<object> => {
  const { index, source, params, genesisWei } = context
  const request = pageRequest(query, ['number', 'address'])
  const page = await index.topAccounts(request)
  const supplyWei = genesisWei + mintedUpTo((await source.headNumber()) ?? 0, params.rewards)
  const items = page.items.map(async ({ address, transactions }, at) => {
    const { balance, hasCode } = await accountState(context, address)
    return {
      rank: request.after === null ? request.offset + at + 1 : null,
      address: checksumAddress(address),
      label: (await index.label(address)) ?? null,
      isContract: hasCode,
      transactionCount: transactions,
      balance: balance.toString(),
      percentOfSupply: percentOf(balance, supplyWei),
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
    handler: async ({ index }, { params, query }) => {
      const request = pageRequest(query, ['number', 'number'])
      const party = addressOfPath(params)
      const page = await index.transactions({ party }, request)
      const total = (await index.account(party))?.transactions ?? 0
      return pageBody(page, page.items.map(transactionItem), request, total)
    },
  },
  {
    path: '/api/addresses/:address/transfers',
    summary: 'Token transfers from or to an address, newest first',
    params: ADDRESS_PARAMETER,
    query: PAGE_QUERY,
    result: pageOfShape(TRANSFER_ITEM_SHAPE),
    needsIndex: true,
    handler: async (context, { params, query }) => {
      const request = pageRequest(query, ['number', 'number', 'number'])
      const party = addressOfPath(params)
      const page = await context.index.transfers({ party }, request)
      const total = (await context.index.account(party))?.transfers ?? 0
      return pageBody(page, await Promise.all(page.items.map(row => transferItem(context, row))), request, total)
    },
  },
  {
    path: '/api/top-accounts',
    summary: 'Accounts by number of transactions',
    query: PAGE_QUERY,
    result: pageOfShape(TOP_ACCOUNT_SHAPE),
    needsIndex: true,
    handler: (context, { query }) => topAccounts(context, query),
  },
  {
    path: '/api/contracts/:address/verify',
    summary: 'Verification of the source code of a contract',
    params: ADDRESS_PARAMETER,
    result: CONTRACT_STATUS_SHAPE,
    needsIndex: false,
    handler: async (context, { params }) => ({
      ...UNVERIFIED,
      address: checksumAddress(addressOfPath(params)),
      isContract: (await accountState(context, addressOfPath(params))).hasCode,
    }),
  },
]

/** Always unverified while contract verification is not built. */
const UNVERIFIED = {
  verified: false,
  match: null,
  name: null,
  language: null,
  compilerVersion: null,
  evmVersion: null,
  optimization: null,
  viaIR: null,
  license: null,
  constructorArguments: null,
  libraries: {},
  verifiedAt: null,
  sources: [],
  abi: null,
  proxy: null,
  pendingJob: null,
}
