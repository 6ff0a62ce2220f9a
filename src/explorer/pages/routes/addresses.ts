import type { Hex } from '../../../util/bytes.ts'
import { formatNumber } from '../../../web/amounts.ts'
import { type Html, html } from '../../../web/html.ts'
import { card, copyButton, emptyState, figures } from '../../../web/parts.ts'
import { invalidParameter } from '../../api/api-error.ts'
import { addressBody, topAccountsBody } from '../../api/routes/addresses.ts'
import { addressTransactionsBody } from '../../api/routes/transactions.ts'
import { addressTransfersBody } from '../../api/routes/transfers.ts'
import { type ContractView, contractView } from '../contract/contract-view.ts'
import { readTab } from '../contract/read-tab.ts'
import { sourceTab } from '../contract/source-tab.ts'
import { writeTab } from '../contract/write-tab.ts'
import { listQuery } from '../list-query.ts'
import type { ExplorerPageRequest, PageContent, PageContext, PageRoute } from '../page-route.ts'
import { heading } from '../parts/heading.ts'
import { addressLink, blockLink, nameText, pathTo, tokenLink } from '../parts/links.ts'
import { labelsOf, partiesOf, transactionTable, transferTable } from '../parts/lists.ts'
import { pager, tabOf, tabs } from '../parts/pager.ts'
import { table } from '../parts/table.ts'
import { exactTokens, tokenAmount, tokens } from '../parts/values.ts'

type AddressBody = Awaited<ReturnType<typeof addressBody>>

export const addressOfPage = ({ params }: ExplorerPageRequest): Hex => {
  const address = params['address'] as string
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw invalidParameter('address', 'An address has 0x and 40 hex digits.')
  return address.toLowerCase() as Hex
}

type Tab = (context: PageContext, body: AddressBody, request: ExplorerPageRequest) => Promise<Html>

const transactions: Tab = async (context, { address }, request) => {
  const list = await addressTransactionsBody(context, address.toLowerCase() as Hex, listQuery(request))
  const labels = await labelsOf(context, partiesOf(list.items))
  const empty = emptyState('No transactions yet.', 'Nothing was sent from or to this address.')
  return card(
    'Transactions',
    html`${transactionTable(list.items, labels, { nowMs: context.nowMs(), symbol: context.site.symbol, empty })}${pager(request, list, 'transaction', `/address/${address}/transactions`)}`,
  )
}

const transfers: Tab = async (context, { address }, request) => {
  const list = await addressTransfersBody(context, address.toLowerCase() as Hex, listQuery(request))
  const labels = await labelsOf(
    context,
    list.items.flatMap(({ from, to }) => [from, to]),
  )
  const empty = emptyState('No token transfers.', 'Tokens that come to this address or leave it are listed here.')
  return card(
    'Token transfers',
    html`${transferTable(list.items, labels, context.nowMs(), empty)}${pager(request, list, 'transfer', `/address/${address}/transfers`)}`,
  )
}

const holdings: Tab = async (_context, { tokenBalances }) =>
  card(
    'Tokens',
    table(
      'Tokens of this address',
      [
        { title: 'Token', cell: ({ token }) => tokenLink(token) },
        { title: 'Name', cell: ({ token }) => nameText(token.name, 'no name') },
        { title: 'Standard', cell: ({ token }) => html`<span class="chip">${token.standard}</span>` },
        { title: 'Balance', isNumber: true, cell: ({ token, balance }) => tokenAmount(balance, token.decimals) },
      ],
      tokenBalances,
      emptyState('No tokens.', 'Balances come from the transfers that tokens logged.'),
    ),
    'as logged by the tokens; names are not verified',
  )

/** A tab about the contract at the address. */
const contractTab =
  (
    tab: (context: PageContext, view: ContractView, request: ExplorerPageRequest, body: AddressBody) => Promise<Html>,
  ): Tab =>
  async (context, body, request) =>
    tab(context, await contractView(context, body.address.toLowerCase() as Hex), request, body)

const TABS: Readonly<Record<string, Tab>> = {
  '': transactions,
  transfers,
  tokens: holdings,
  contract: contractTab((context, view, _request, body) => sourceTab(context, view, body)),
  read: contractTab(readTab),
  write: contractTab(writeTab),
}

const marksOf = ({ label, roles, token, isVerified, contractName }: AddressBody): Html => html`
${isVerified && html` <span class="chip good">verified: ${nameText(contractName, 'contract')}</span>`}
${label !== null && html` <span class="chip network">${nameText(label, '')}</span>`}
${roles.map(role => html` <span class="${role === 'miner' ? 'chip proof' : 'chip'}">${role === 'union' ? 'validator' : role}</span>`)}
${token !== null && html` <span class="chip">token ${tokenLink(token)}</span>`}`

const CONTRACT_TABS = [
  { name: 'contract', label: 'Source code' },
  { name: 'read', label: 'Read' },
  { name: 'write', label: 'Write' },
] as const

const addressPage = async (context: PageContext, request: ExplorerPageRequest): Promise<PageContent> => {
  const body = await addressBody(context, addressOfPage(request))
  const { address, isContract } = body
  const tab = tabOf(request, Object.keys(TABS))
  const path = pathTo('address', address)
  const blocks = body.minedBlocks + body.proposedBlocks
  return {
    title: `Address ${address.slice(0, 10)}`,
    body: html`
${heading(isContract ? 'Contract' : 'Address', { marks: marksOf(body), lead: html`<span class="copyable"><code>${address}</code>${copyButton(address, 'address')}</span>` })}
${figures([
  ['Balance', tokens(body.balance), exactTokens(body.balance, context.site.symbol)],
  ['Transactions', formatNumber(body.transactionCount), `next nonce ${body.nonce}`],
  ['Token transfers', formatNumber(body.tokenTransferCount)],
  [
    'First seen',
    body.firstSeenBlock === null ? 'never' : blockLink(body.firstSeenBlock),
    body.lastSeenBlock === null ? undefined : html`last in ${blockLink(body.lastSeenBlock)}`,
  ],
  ...(blocks > 0
    ? ([
        [
          'Blocks',
          formatNumber(blocks),
          `${formatNumber(body.proposedBlocks)} proposed, ${formatNumber(body.minedBlocks)} mined`,
        ],
      ] as const)
    : []),
])}
${tabs(path, tab, [
  { name: '', label: 'Transactions', count: body.transactionCount },
  { name: 'transfers', label: 'Token transfers', count: body.tokenTransferCount },
  { name: 'tokens', label: 'Tokens', count: body.tokenBalances.length },
  ...(isContract ? CONTRACT_TABS : []),
])}
${await (TABS[tab] as Tab)(context, body, { ...request, path })}`,
  }
}

const accountsPage = async (context: PageContext, request: ExplorerPageRequest): Promise<PageContent> => {
  const list = await topAccountsBody(context, listQuery(request))
  return {
    title: 'Accounts',
    body: html`${heading('Accounts', { lead: 'Addresses by the number of their transactions.' })}
${card(
  'Most active accounts',
  html`${table(
    'Accounts by number of transactions',
    [
      { title: 'Rank', cell: ({ rank }) => rank ?? '' },
      {
        title: 'Address',
        cell: ({ address, label, isContract }) =>
          html`${addressLink(address, label)}${isContract && html` <span class="chip">contract</span>`}`,
      },
      { title: 'Transactions', isNumber: true, cell: ({ transactionCount }) => formatNumber(transactionCount) },
      { title: 'Balance', isNumber: true, cell: ({ balance }) => `${tokens(balance)} ${context.site.symbol}` },
      { title: 'Of the supply', isNumber: true, cell: ({ percentOfSupply }) => `${percentOfSupply} %` },
    ],
    list.items,
    emptyState(
      'No accounts yet.',
      'Accounts are listed after their first transaction. Funded accounts without one have a page of their own: search for their address.',
    ),
  )}${pager(request, list, 'account', '/accounts')}`,
)}`,
  }
}

export const addressPages: readonly PageRoute[] = [
  { path: '/address/:address', needsIndex: true, render: addressPage },
  { path: '/accounts', needsIndex: true, render: accountsPage },
]
