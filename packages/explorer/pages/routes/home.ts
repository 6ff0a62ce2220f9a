import { formatNumber } from '@tandem/web/amounts.ts'
import { type Html, html } from '@tandem/web/html.ts'
import { card, emptyState, figures } from '@tandem/web/parts.ts'
import { durationText } from '@tandem/web/times.ts'
import { blocksBody } from '../../api/routes/blocks.ts'
import { nextHalving } from '../../api/routes/economy.ts'
import { networkBody } from '../../api/routes/network.ts'
import { transactionsBody } from '../../api/routes/transactions.ts'
import { type RewardRules, secondsOf } from '../../chain/rules.ts'
import type { PageContext, PageRoute } from '../page-route.ts'
import { chainStrip, STRIP_BLOCKS } from '../parts/chain-strip.ts'
import { heading } from '../parts/heading.ts'
import { blockLink, pathTo } from '../parts/links.ts'
import { blockRows, labelsOf, partiesOf, transactionRows } from '../parts/lists.ts'

/** Blocks and transactions on the home page. */
const ROWS = 8

/** Parts of the home page that change with each block, by the name of their place. */
export const liveParts = async (context: PageContext): Promise<Readonly<Record<string, Html>>> => {
  const { index, nowMs, site } = context
  const [network, counters, blocks, transactions, headers] = await Promise.all([
    networkBody(context),
    index.counters(),
    blocksBody(context, { limit: STRIP_BLOCKS }),
    transactionsBody(context, { limit: ROWS }),
    index.proofHeaders({ limit: STRIP_BLOCKS, offset: 0, after: null }),
  ])
  const newest = blocks.items.slice(0, ROWS)
  const labels = await labelsOf(context, [...newest.map(({ proposer }) => proposer), ...partiesOf(transactions.items)])
  return {
    // As in the list beside it: the node may already be a block ahead of the index.
    head: blockLink(newest[0]?.number ?? network.blockNumber),
    transactionCount: html`${formatNumber(counters.transactions)}`,
    rate: html`${formatNumber(network.tps)}`,
    gasPrice: html`${network.gasPriceGwei}`,
    strip: chainStrip(blocks.items, headers.items),
    blocks: blockRows(newest, labels, nowMs()),
    transactions: transactionRows(transactions.items, labels, site.symbol, nowMs()),
  }
}

const live = (name: string, content: Html | undefined): Html => html`<span data-live="${name}">${content}</span>`

const untilHalving = async (
  { source, rules }: PageContext,
  rewards: RewardRules,
): Promise<readonly [string, Html, string]> => {
  const { blocksRemaining } = nextHalving((await source.headNumber()) ?? 0, rewards)
  const seconds = secondsOf(blocksRemaining, rules)
  return [
    'Next cut of the reward',
    html`<a href="${pathTo('supply')}">${formatNumber(blocksRemaining)}</a>`,
    `blocks, about ${durationText(seconds)}`,
  ]
}

const homeBody = async (context: PageContext): Promise<Html> => {
  const parts = await liveParts(context)
  const counters = await context.index.counters()
  const { site, rules } = context
  const { tandem } = rules
  return html`
<section class="hero">
${heading(html`The ${site.network} chain`, {
  steps: html`<button type="button" class="live scripted" data-stream="${pathTo('live')}" aria-pressed="true">Connecting</button>`,
  lead:
    tandem &&
    'Two chains in tandem: a council makes blocks that are final as soon as they stand here, and the proof chain beside it decides whom they pay.',
})}
<div data-live="strip">${parts['strip']}</div>
<p class="legend"><span><i class="mark-block"></i>blocks, as high as the gas they used</span>${tandem && html`<span><i class="mark-proof"></i>headers of the proof chain, at the block that took them in</span>`}</p>
</section>
${figures([
  ['Head', live('head', parts['head'])],
  [
    'Transactions',
    live('transactionCount', parts['transactionCount']),
    html`<a href="${pathTo('stats')}">statistics</a>`,
  ],
  ['Transactions per second', live('rate', parts['rate']), 'over the newest 60 blocks'],
  ['Gas price', live('gasPrice', parts['gasPrice']), 'gwei'],
  ['Addresses', html`<a href="${pathTo('accounts')}">${formatNumber(counters.addresses)}</a>`],
  ...(tandem ? [await untilHalving(context, tandem.rewards)] : []),
])}
<div class="columns">
${card('Newest blocks', html`<ol class="rows" data-live="blocks">${parts['blocks']}</ol>`, html`<a href="${pathTo('blocks')}">All blocks</a>`)}
${card(
  'Newest transactions',
  counters.transactions === 0
    ? html`<ol class="rows" data-live="transactions"></ol>${emptyState('No transactions yet.', 'The first one appears here with its block.')}`
    : html`<ol class="rows" data-live="transactions">${parts['transactions']}</ol>`,
  html`<a href="${pathTo('txs')}">All transactions</a>`,
)}
</div>`
}

export const homeRoutes: readonly PageRoute[] = [
  {
    path: '',
    needsIndex: true,
    render: async context => ({ title: 'Explorer', body: await homeBody(context) }),
  },
]
