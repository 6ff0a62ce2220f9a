import type { Hex } from '@tandem/base/bytes.ts'
import { formatNumber } from '@tandem/web/amounts.ts'
import { type Html, html } from '@tandem/web/html.ts'
import { card, copyButton, emptyState, facts, figures } from '@tandem/web/parts.ts'
import { tokenBody, tokensBody } from '../../api/routes/tokens.ts'
import { tokenTransfersBody } from '../../api/routes/transfers.ts'
import { listQuery } from '../list-query.ts'
import type { ExplorerPageRequest, PageContent, PageContext, PageRoute } from '../page-route.ts'
import { heading } from '../parts/heading.ts'
import { addressLink, nameText, pathTo, tokenLink, transactionLink, wholeAddress } from '../parts/links.ts'
import { labelsOf, partiesOf, transferTable } from '../parts/lists.ts'
import { pager, tabOf, tabs } from '../parts/pager.ts'
import { table } from '../parts/table.ts'
import { tokenAmount } from '../parts/values.ts'
import { addressOfPage } from './addresses.ts'

type TokenBody = Awaited<ReturnType<typeof tokenBody>>

const tokensPage = async (context: PageContext, request: ExplorerPageRequest): Promise<PageContent> => {
  const list = await tokensBody(context, listQuery(request))
  return {
    title: 'Tokens',
    body: html`${heading('Tokens', { lead: 'Contracts that logged transfers. Anyone can give a token any name, so look at the address.' })}
${card(
  'Tokens by transfers',
  html`${table(
    'Tokens by number of transfers',
    [
      { title: 'Token', cell: tokenLink },
      { title: 'Name', cell: ({ name }) => nameText(name, 'no name') },
      { title: 'Standard', cell: ({ standard }) => html`<span class="chip">${standard}</span>` },
      {
        title: 'Supply',
        isNumber: true,
        cell: ({ totalSupply, decimals }) => tokenAmount(totalSupply, decimals),
      },
      { title: 'Holders', isNumber: true, cell: ({ holderCount }) => formatNumber(holderCount) },
      { title: 'Transfers', isNumber: true, cell: ({ transferCount }) => formatNumber(transferCount) },
    ],
    list.items,
    emptyState('No tokens yet.', 'A contract is listed here once it logs a transfer of ERC-20, ERC-721 or ERC-1155.'),
  )}${pager(request, list, 'token', '/tokens')}`,
)}`,
  }
}

const holders = async (_context: PageContext, token: TokenBody, request: ExplorerPageRequest): Promise<Html> =>
  card(
    'Holders',
    html`${table(
      'Holders, the largest first',
      [
        { title: 'Rank', cell: ({ rank }) => rank ?? '' },
        { title: 'Address', cell: ({ address, label }) => addressLink(address, label) },
        { title: 'Balance', isNumber: true, cell: ({ balance }) => tokenAmount(balance, token.decimals) },
        { title: 'Share', isNumber: true, cell: ({ percent }) => (percent === null ? '' : `${percent} %`) },
      ],
      token.holders.items,
      emptyState(
        'Nobody holds this token.',
        'Every unit that was logged has been burnt, or none was ever logged as received.',
      ),
    )}${pager(request, token.holders, 'holder', `/token/${token.address}/holders`)}`,
    'in the order of what the token logged; balances as the contract has them now',
  )

const transfers = async (context: PageContext, { address }: TokenBody, request: ExplorerPageRequest): Promise<Html> => {
  const list = await tokenTransfersBody(context, address.toLowerCase() as Hex, listQuery(request))
  const labels = await labelsOf(context, partiesOf(list.items))
  const empty = emptyState('No transfers.', 'Blocks with its transfers were taken back.')
  return card(
    'Transfers',
    html`${transferTable(list.items, labels, context.nowMs(), empty)}${pager(request, list, 'transfer', `/token/${address}/transfers`)}`,
  )
}

const origin = ({ creator, creationTransaction, address, decimals, verified }: TokenBody): Html =>
  card(
    'Contract',
    facts([
      ['Address', wholeAddress(address)],
      ['Decimals', decimals === null ? 'not told' : String(decimals)],
      creator !== null && ['Created by', wholeAddress(creator)],
      creationTransaction !== null && ['In transaction', transactionLink(creationTransaction)],
      [
        'Source code',
        html`${verified ? html`<span class="chip good">verified</span>` : 'not verified'} <a href="${pathTo('address', address)}?tab=contract">show the contract</a>`,
      ],
    ]),
  )

const tokenPage = async (context: PageContext, request: ExplorerPageRequest): Promise<PageContent> => {
  const tab = tabOf(request, ['holders', 'contract'])
  const token = await tokenBody(context, addressOfPage(request), tab === 'holders' ? listQuery(request) : {})
  const path = pathTo('token', token.address)
  const parts = { '': transfers, holders, contract: async () => origin(token) }
  return {
    title: 'Token',
    body: html`
${heading(nameText(token.name, 'Token without a name'), {
  marks: html`${token.symbol !== null && html`<span class="chip network">${nameText(token.symbol, '')}</span>`} <span class="chip">${token.standard}</span> ${token.verified ? html`<span class="chip good">verified source</span>` : html`<span class="chip">source not verified</span>`}`,
  lead: html`<span class="copyable"><a href="${pathTo('address', token.address)}"><code>${token.address}</code></a>${copyButton(token.address, 'address')}</span>`,
})}
${figures([
  ['Supply', tokenAmount(token.totalSupply, token.decimals)],
  ['Holders', formatNumber(token.holderCount)],
  ['Transfers', formatNumber(token.transferCount)],
])}
${tabs(path, tab, [
  { name: '', label: 'Transfers', count: token.transferCount },
  { name: 'holders', label: 'Holders', count: token.holderCount },
  { name: 'contract', label: 'Contract' },
])}
${await parts[tab as keyof typeof parts](context, token, { ...request, path })}`,
  }
}

export const tokenPages: readonly PageRoute[] = [
  { path: '/tokens', needsIndex: true, render: tokensPage },
  { path: '/token/:address', needsIndex: true, render: tokenPage },
]
