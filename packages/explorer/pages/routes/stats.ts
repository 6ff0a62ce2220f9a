import { formatNumber } from '@tandem/web/amounts.ts'
import { type Html, html } from '@tandem/web/html.ts'
import { card, emptyState, figures } from '@tandem/web/parts.ts'
import { formatGwei, tokensFromWei } from '../../api/format.ts'
import { statsBody } from '../../api/routes/statistics.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import type { ExplorerPageRequest, PageContent, PageContext, PageRoute } from '../page-route.ts'
import { chart, shortNumber } from '../parts/chart.ts'
import { heading } from '../parts/heading.ts'
import { pathTo } from '../parts/links.ts'
import { choice } from '../parts/pager.ts'
import { dataTable } from '../parts/table.ts'

type Day = Awaited<ReturnType<typeof statsBody>>['days'][number]

const RANGES = [30, 90, 365] as const

const SERIES: readonly { readonly title: string; readonly unit: string; readonly value: (day: Day) => number }[] = [
  { title: 'Transactions', unit: 'a day', value: day => day.transactions },
  { title: 'Active addresses', unit: 'a day', value: day => day.activeAddresses },
  { title: 'Gas used', unit: 'a day', value: day => Number(day.gasUsed) },
  { title: 'Average gas price', unit: 'gwei', value: day => Number(formatGwei(BigInt(day.averageGasPrice))) },
  { title: 'Fees', unit: 'tokens a day', value: day => tokensFromWei(BigInt(day.feesWei)) },
  { title: 'Value moved', unit: 'tokens a day', value: day => day.volume },
  { title: 'New addresses', unit: 'a day', value: day => day.newAddresses },
  { title: 'Time between blocks', unit: 'seconds', value: day => day.averageBlockTime ?? 0 },
]

const seriesCard = (days: readonly Day[], { title, unit, value }: (typeof SERIES)[number]): Html => {
  const points = days.map(day => ({ label: day.date.slice(5), value: value(day) }))
  return card(
    title,
    html`${chart({ summary: `${title}, ${unit}, over ${days.length} days`, kind: points.length > 60 ? 'line' : 'bars', points, format: shortNumber })}
${dataTable(
  title,
  ['Day (UTC)', title],
  [...days].reverse().map(day => [day.date, formatNumber(value(day))]),
)}`,
    unit,
  )
}

const ranges = (path: string, current: number): Html => html`
<nav class="filters" aria-label="Length of time">${RANGES.map(days =>
  choice(`${path}?days=${days}`, `${days} days`, days === current),
)}</nav>`

const statsPage = async (context: PageContext, { path, query }: ExplorerPageRequest): Promise<PageContent> => {
  const wanted = RANGES.find(days => String(days) === query['days']) ?? EXPLORER_LIMITS.api.days.default
  const { totals, days } = await statsBody(context, wanted)
  const oldestFirst = [...days].reverse()
  return {
    title: 'Statistics',
    body: html`
${heading('Statistics', { lead: html`Sums of each day, UTC. Today is not over. <a href="${pathTo('csv', 'stats')}" download>The last ${EXPLORER_LIMITS.api.days.max} days as CSV</a>` })}
${figures([
  ['Blocks', formatNumber(totals.blocks)],
  ['Transactions', formatNumber(totals.transactions)],
  ['Addresses', formatNumber(totals.addresses)],
  ['Contracts', formatNumber(totals.contracts)],
  ['Tokens', formatNumber(totals.tokens)],
])}
${ranges(path, wanted)}
${
  days.length === 0
    ? emptyState('No days yet.', 'The first one appears with the first block.')
    : html`<div class="columns">${SERIES.map(series => seriesCard(oldestFirst, series))}</div>`
}`,
  }
}

export const statsPages: readonly PageRoute[] = [{ path: '/stats', needsIndex: true, render: statsPage }]
