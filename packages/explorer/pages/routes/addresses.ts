import type { Hex } from '@tandem/base/bytes.ts'
import { formatNumber } from '@tandem/web/amounts.ts'
import { type Html, html } from '@tandem/web/html.ts'
import { card, copyButton, emptyState, figures } from '@tandem/web/parts.ts'
import { invalidParameter } from '../../api/api-error.ts'
import { addressBody, topAccountsBody } from '../../api/routes/addresses.ts'
import { ADDRESS_TABS, type AddressBody } from '../address/address-tabs.ts'
import { listQuery } from '../list-query.ts'
import type { ExplorerPageRequest, PageContent, PageContext, PageRoute } from '../page-route.ts'
import { heading } from '../parts/heading.ts'
import { addressLink, blockLink, nameText, pathTo, tokenLink } from '../parts/links.ts'
import { pager, tabOf, tabs } from '../parts/pager.ts'
import { table } from '../parts/table.ts'
import { exactTokens, tokens } from '../parts/values.ts'

export const addressOfPage = ({ params }: ExplorerPageRequest): Hex => {
  const address = params['address'] as string
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw invalidParameter('address', 'An address has 0x and 40 hex digits.')
  return address.toLowerCase() as Hex
}

const marksOf = ({ label, roles, token, isVerified, contractName, delegatedTo }: AddressBody): Html => html`
${delegatedTo !== null && html` <span class="chip">delegated to ${addressLink(delegatedTo)}</span>`}
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
  const { address, isContract, delegatedTo } = body
  const tab = tabOf(request, Object.keys(ADDRESS_TABS))
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
  { name: 'internal', label: 'Internal', count: body.internalTransferCount },
  { name: 'tokens', label: 'Tokens', count: body.tokenBalances.length },
  ...(blocks > 0 ? [{ name: 'blocks', label: 'Blocks', count: blocks }] : []),
  ...(isContract || delegatedTo !== null ? CONTRACT_TABS : []),
])}
${await (ADDRESS_TABS[tab] as (typeof ADDRESS_TABS)[string])(context, body, { ...request, path })}`,
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
