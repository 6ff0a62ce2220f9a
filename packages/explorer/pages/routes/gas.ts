import { formatNumber } from '@tandem/web/amounts.ts'
import { type Html, html } from '@tandem/web/html.ts'
import { card, emptyState, figures } from '@tandem/web/parts.ts'
import { formatGwei } from '../../api/format.ts'
import { blocksBody } from '../../api/routes/blocks.ts'
import type { PageContent, PageContext, PageRoute } from '../page-route.ts'
import { chart, shortNumber } from '../parts/chart.ts'
import { heading } from '../parts/heading.ts'
import { dataTable, table } from '../parts/table.ts'
import { gwei, tokens } from '../parts/values.ts'

/** Blocks of the charts. */
const BLOCKS = 60

const COSTS = [
  { what: 'Sending tokens', gas: 21_000n },
  { what: 'Sending ERC-20 tokens', gas: 55_000n },
  { what: 'Creating a small contract', gas: 600_000n },
] as const

const history = async (context: PageContext): Promise<Html> => {
  const { items } = await blocksBody(context, { limit: BLOCKS })
  const blocks = [...items].reverse()
  if (blocks.length < 2) return emptyState('No history yet.', 'The charts begin with the second block.')
  const fees = blocks.map(({ number, baseFeePerGas }) => ({
    label: formatNumber(number),
    value: Number(formatGwei(BigInt(baseFeePerGas))),
  }))
  const used = blocks.map(({ number, gasUsed }) => ({ label: formatNumber(number), value: Number(gasUsed) }))
  const rows = items.map(({ number, baseFeePerGas, gasUsed }) => [
    formatNumber(number),
    gwei(baseFeePerGas),
    formatNumber(BigInt(gasUsed)),
  ])
  return html`<div class="columns">
${card('Base fee', html`${chart({ summary: `Base fee of the newest ${blocks.length} blocks`, kind: 'line', points: fees, format: shortNumber })}${dataTable('Base fee and gas by block', ['Block', 'Base fee, gwei', 'Gas used'], rows)}`, 'gwei')}
${card('Gas used', html`${chart({ summary: `Gas used in the newest ${blocks.length} blocks`, kind: 'bars', points: used, format: shortNumber })}${dataTable('Gas used by block', ['Block', 'Base fee, gwei', 'Gas used'], rows)}`, 'a block')}
</div>`
}

const gasPage = async (context: PageContext): Promise<PageContent> => {
  const { node, rules, site } = context
  const price = await node.gasPriceWei()
  const baseFee = rules.tandem?.baseFee
  return {
    title: 'Gas',
    body: html`
${heading('Gas', { lead: baseFee && 'The base fee moves between a floor and a ceiling with the gas that blocks use.' })}
${figures([
  ['Suggested price', gwei(price), 'gwei'],
  ...(baseFee
    ? ([
        ['Floor', gwei(baseFee.lowerBoundWei), 'gwei'],
        ['Ceiling', gwei(baseFee.upperBoundWei), 'gwei'],
        ['Target of a block', formatNumber(baseFee.gasTarget), 'gas; above it the fee rises'],
      ] as const)
    : []),
])}
${await history(context)}
${card(
  'What things cost now',
  table(
    'Costs at the suggested price',
    [
      { title: 'What', cell: ({ what }) => what },
      { title: 'Gas, about', isNumber: true, cell: ({ gas }) => formatNumber(gas) },
      { title: 'Fee', isNumber: true, cell: ({ gas }) => `${tokens(gas * price)} ${site.symbol}` },
    ],
    COSTS,
    html``,
  ),
  'at the suggested price',
)}`,
  }
}

export const gasPages: readonly PageRoute[] = [{ path: '/gas', needsIndex: true, render: gasPage }]
