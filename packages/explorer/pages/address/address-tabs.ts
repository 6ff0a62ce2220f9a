import type { Hex } from '@tandem/base/bytes.ts'
import { type Html, html } from '@tandem/web/html.ts'
import { card, emptyState } from '@tandem/web/parts.ts'
import { ageOf } from '@tandem/web/times.ts'
import type { addressBody } from '../../api/routes/addresses.ts'
import { producedBlocksBody } from '../../api/routes/blocks.ts'
import { addressInternalBody } from '../../api/routes/internal-transfers.ts'
import { addressTransactionsBody } from '../../api/routes/transactions.ts'
import { addressTransfersBody } from '../../api/routes/transfers.ts'
import { type ContractView, contractView } from '../contract/contract-view.ts'
import { readTab } from '../contract/read-tab.ts'
import { sourceTab } from '../contract/source-tab.ts'
import { writeTab } from '../contract/write-tab.ts'
import { listQuery } from '../list-query.ts'
import type { ExplorerPageRequest, PageContext } from '../page-route.ts'
import { nameText, tokenLink, transactionLink } from '../parts/links.ts'
import {
  blockTable,
  labelled,
  labelsOf,
  partiesOf,
  producersOf,
  transactionTable,
  transferTable,
} from '../parts/lists.ts'
import { choice, pager } from '../parts/pager.ts'
import { table } from '../parts/table.ts'
import { tokenAmount, tokens } from '../parts/values.ts'

export type AddressBody = Awaited<ReturnType<typeof addressBody>>

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
  const labels = await labelsOf(context, partiesOf(list.items))
  const empty = emptyState('No token transfers.', 'Tokens that come to this address or leave it are listed here.')
  return card(
    'Token transfers',
    html`${transferTable(list.items, labels, context.nowMs(), empty)}${pager(request, list, 'transfer', `/address/${address}/transfers`)}`,
  )
}

const internalTransfers: Tab = async (context, { address }, request) => {
  const list = await addressInternalBody(context, address.toLowerCase() as Hex, listQuery(request))
  const labels = await labelsOf(context, partiesOf(list.items))
  const { symbol } = context.site
  const empty = emptyState(
    'No internal transfers.',
    'Value that contracts move while they run, and contracts that they create, are listed here.',
  )
  return card(
    'Internal transfers',
    html`${table(
      'Internal transfers, newest first',
      [
        { title: 'Transaction', cell: ({ transactionHash }) => transactionLink(transactionHash) },
        { title: 'Kind', cell: ({ type }) => html`<span class="chip">${type}</span>` },
        { title: 'Age', cell: ({ timestamp }) => ageOf(timestamp, context.nowMs()) },
        { title: 'From', cell: ({ from }) => labelled(labels, from) },
        { title: 'To', cell: ({ to }) => labelled(labels, to) },
        { title: 'Value', isNumber: true, cell: ({ value }) => `${tokens(value)} ${symbol}` },
      ],
      list.items,
      empty,
    )}${pager(request, list, 'internal transfer', `/address/${address}/internal`)}`,
    'made by contracts',
  )
}

const ROLES = [
  { role: 'proposer', label: 'Proposed' },
  { role: 'miner', label: 'Mined' },
] as const

/** Blocks that an address proposed, or whose beneficiary it was. */
const producedBlocks: Tab = async (context, { address }, request) => {
  const wanted = ROLES.find(({ role }) => role === request.query['role']) ?? ROLES[0]
  const list = await producedBlocksBody(context, wanted.role, address.toLowerCase() as Hex, listQuery(request))
  const labels = await labelsOf(context, producersOf(list.items))
  const links = ROLES.map(({ role, label }) =>
    choice(`${request.path}?tab=blocks&role=${role}`, label, role === wanted.role),
  )
  return html`<nav class="filters" aria-label="Parts in making blocks">${links}</nav>
${card(
  `${wanted.label} blocks`,
  html`${
    list.items.length === 0
      ? emptyState(
          'No such blocks.',
          wanted.role === 'miner'
            ? 'The miner of the newest proof header is the beneficiary of the blocks after it.'
            : 'Members of the council take turns in proposing blocks.',
        )
      : blockTable(list.items, labels, context.nowMs())
  }${pager(request, list, 'block', `/address/${address}/blocks`)}`,
)}`
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
      emptyState('No tokens.', 'A token is listed once it logs a transfer from or to the address.'),
    ),
    'balances as the contracts have them now; names are not verified',
  )

/** A tab about the contract at the address. */
const contractTab =
  (
    tab: (context: PageContext, view: ContractView, request: ExplorerPageRequest, body: AddressBody) => Promise<Html>,
  ): Tab =>
  async (context, body, request) =>
    tab(context, await contractView(context, body.address.toLowerCase() as Hex), request, body)

/** Tabs of an address by their name in the query. */
export const ADDRESS_TABS: Readonly<Record<string, Tab>> = {
  '': transactions,
  transfers,
  internal: internalTransfers,
  tokens: holdings,
  blocks: producedBlocks,
  contract: contractTab((context, view, _request, body) => sourceTab(context, view, body)),
  read: contractTab(readTab),
  write: contractTab(writeTab),
}
