import type { Hex } from '@tandem/base/bytes.ts'
import { formatNumber } from '@tandem/web/amounts.ts'
import { type Fragment, type Html, html } from '@tandem/web/html.ts'
import { card, emptyState, facts } from '@tandem/web/parts.ts'
import { timeOf } from '@tandem/web/times.ts'
import { invalidParameter, notFound } from '../../api/api-error.ts'
import { blockBody, blocksBody } from '../../api/routes/blocks.ts'
import { transactionItem } from '../../api/routes/transactions.ts'
import { listQuery } from '../list-query.ts'
import type { ExplorerPageRequest, PageContent, PageContext, PageRoute } from '../page-route.ts'
import { heading } from '../parts/heading.ts'
import { pathTo, wholeAddress, wholeHash } from '../parts/links.ts'
import { blockTable, labelsOf, minerLink, partiesOf, producersOf, transactionTable } from '../parts/lists.ts'
import { pager, tabOf, tabs } from '../parts/pager.ts'
import { exactTokens, gwei, percent } from '../parts/values.ts'

const NUMBER = /^(0|[1-9][0-9]{0,14})$/
const HASH = /^0x[0-9a-fA-F]{64}$/

/** Number of the block that a path names, by number or hash. */
const numberOf = async ({ source }: PageContext, id: string): Promise<number> => {
  if (NUMBER.test(id)) return Number(id)
  if (!HASH.test(id)) throw invalidParameter('block', 'A block is named by its number or its hash.')
  const number = await source.numberOf(id.toLowerCase() as Hex)
  if (number === undefined) throw notFound('No block of this chain has this hash.')
  return number
}

type Block = Awaited<ReturnType<typeof blockBody>>

const PAGE = 50

/** A page of the transactions of a block, last first: those before an index. */
const blockTransactions = async (
  context: PageContext,
  { number, transactionCount }: Block,
  request: ExplorerPageRequest,
): Promise<Html> => {
  const { index, nowMs, site } = context
  const asked = request.query['before']
  const before = asked !== undefined && NUMBER.test(asked) ? Number(asked) : transactionCount
  const { items } = await index.transactions({}, { limit: PAGE, offset: 0, after: [number, before] })
  const rows = items.filter(({ blockNumber }) => blockNumber === number).map(transactionItem)
  const labels = await labelsOf(context, partiesOf(rows))
  const last = rows.at(-1)?.transactionIndex ?? 0
  const empty = emptyState(
    'No transactions in this block.',
    'Blocks are made on time whether or not there are transactions.',
  )
  return card(
    'Transactions',
    html`${transactionTable(rows, labels, { nowMs: nowMs(), symbol: site.symbol, empty })}
${last > 0 && html`<div class="pager"><span>${formatNumber(transactionCount)} transactions</span><span><a class="button plain" href="${request.path}?tab=transactions&amp;before=${last}">Next page</a></span></div>`}`,
  )
}

const overview = async (context: PageContext, block: Block): Promise<Html> => {
  const { site, rules } = context
  const gasOfBlock = rules.tandem?.maxBlockExecutionGas ?? BigInt(block.gasLimit)
  const labels = await labelsOf(context, [block.proposer, block.miner, block.hash])
  const fees = BigInt(block.feesWei)
  return html`
${card(
  'Block',
  facts([
    ['Time', timeOf(block.timestamp)],
    [
      'Transactions',
      html`<a href="${pathTo('block', block.number)}?tab=transactions">${formatNumber(block.transactionCount)}</a>`,
    ],
    ['Proposer', wholeAddress(block.proposer, labels.get(block.proposer) ?? null)],
    ['Miner (beneficiary)', minerLink(labels, block.miner)],
    [
      'Gas used',
      html`${formatNumber(BigInt(block.gasUsed))} <small>of ${formatNumber(gasOfBlock)}, ${percent(BigInt(block.gasUsed), gasOfBlock)}</small>`,
    ],
    ['Base fee', `${gwei(block.baseFeePerGas)} gwei`],
    ['Size', `${formatNumber(block.size)} bytes`],
    ['Minted', exactTokens(block.mintedWei, site.symbol)],
    ['Fees', exactTokens(fees, site.symbol)],
    ['Burnt', exactTokens(block.burntWei, site.symbol)],
  ]),
)}
${card(
  'Hashes',
  facts([
    ['Block', wholeHash(block.hash, 'hash of the block')],
    [
      'Parent',
      block.number === 0
        ? html`<code>${block.parentHash}</code>`
        : wholeHash(block.parentHash, 'hash of the parent', pathTo('block', block.number - 1)),
    ],
    ['State root', html`<code>${block.stateRoot}</code>`],
    ['Transactions root', html`<code>${block.transactionsRoot}</code>`],
    ['Receipts root', html`<code>${block.receiptsRoot}</code>`],
  ]),
)}`
}

const signersText = (block: Block): Fragment =>
  block.committers === null || block.committee === null
    ? 'not known to this node'
    : `${block.committers.length} of ${block.committee.length}`

const committeeList = async (context: PageContext, { committee, committers, proposer }: Block): Promise<Html> => {
  if (committee === null)
    return emptyState(
      'The committee of this block is not known here.',
      'The node keeps the committees of recent cycles. Genesis has none, and a node that began with a snapshot lacks older ones.',
    )
  const labels = await labelsOf(context, committee)
  const signed = new Set(committers ?? [])
  return html`<ol class="list">${committee.map(
    member =>
      html`<li>${wholeAddress(member, labels.get(member) ?? null)} ${member === proposer && html`<span class="chip">proposer</span>`} ${
        committers !== null &&
        (signed.has(member)
          ? html`<span class="chip good">signed</span>`
          : html`<span class="chip">no signature in the certificate</span>`)
      }</li>`,
  )}</ol>`
}

const consensus = async (context: PageContext, block: Block): Promise<Html> => {
  const { site } = context
  const labels = await labelsOf(context, [block.proposer, block.miner, ...block.rewards.map(({ address }) => address)])
  return html`
${card(
  'Consensus',
  facts([
    ['Finality', html`<span class="chip good">final</span> <small>a committed block is never replaced</small>`],
    ['Round', block.round === null ? 'not known to this node' : String(block.round)],
    ['Proposer', wholeAddress(block.proposer, labels.get(block.proposer) ?? null)],
    ['Miner (beneficiary)', minerLink(labels, block.miner)],
    ['Signatures', signersText(block)],
    [
      'Extra data',
      html`<code>${block.extraData.length > 400 ? `${block.extraData.slice(0, 400)}…` : block.extraData}</code>`,
    ],
  ]),
)}
${card(
  'Earned with this block',
  block.rewards.length === 0
    ? emptyState('Nothing was earned with this block.', 'It has no fees, and minting begins with the first block.')
    : facts(
        block.rewards.map(
          ({ address, role, amountWei }) =>
            [
              role === 'union' ? 'Proposer' : 'Miner',
              html`${wholeAddress(address, labels.get(address) ?? null)} ${exactTokens(amountWei, site.symbol)}`,
            ] as const,
        ),
      ),
  'paid at the end of the cycle',
)}
${card('Committee', await committeeList(context, block))}`
}

const TABS = ['transactions', 'consensus'] as const

const blockPage = async (context: PageContext, request: ExplorerPageRequest): Promise<PageContent> => {
  const number = await numberOf(context, request.params['id'] as string)
  const block = await blockBody(context, number)
  const path = pathTo('block', number)
  const tab = tabOf(request, TABS)
  const parts = {
    '': overview,
    transactions: (_: PageContext, block: Block) => blockTransactions(context, block, { ...request, path }),
    consensus,
  }
  const step = (to: number | null, label: string): Html =>
    to === null ? html`<span>${label}</span>` : html`<a href="${pathTo('block', to)}">${label}</a>`
  return {
    title: `Block ${number}`,
    body: html`
${heading(`Block ${formatNumber(number)}`, {
  marks: html`<span class="chip good">final</span>`,
  steps: html`${step(block.previous, '← Previous')}${step(block.next, 'Next →')}`,
})}
${tabs(path, tab, [
  { name: '', label: 'Overview' },
  { name: 'transactions', label: 'Transactions', count: block.transactionCount },
  { name: 'consensus', label: 'Consensus' },
])}
${await parts[tab as keyof typeof parts](context, block)}`,
  }
}

export const blockPages: readonly PageRoute[] = [
  {
    path: '/blocks',
    needsIndex: true,
    async render(context, request) {
      const list = await blocksBody(context, listQuery(request))
      const labels = await labelsOf(context, producersOf(list.items))
      return {
        title: 'Blocks',
        body: html`${heading('Blocks', { lead: 'The main chain, newest first.' })}
${card('All blocks', html`${blockTable(list.items, labels, context.nowMs())}${pager(request, list, 'block', '/blocks')}`)}`,
      }
    },
  },
  { path: '/block/:id', needsIndex: true, render: blockPage },
]
