import { formatNumber } from '@tandem/web/amounts.ts'
import { type Html, html } from '@tandem/web/html.ts'
import { card, emptyState, facts, figures } from '@tandem/web/parts.ts'
import { ageOf } from '@tandem/web/times.ts'
import { tandemOf } from '../../api/api-route.ts'
import { miningBody } from '../../api/routes/mining.ts'
import { secondsOf } from '../../chain/rules.ts'
import { checksumAddress } from '../../keccak.ts'
import type { ProofRow } from '../../store/sql/rows.ts'
import type { PageContent, PageContext, PageRoute } from '../page-route.ts'
import { chart, shortNumber } from '../parts/chart.ts'
import { heading } from '../parts/heading.ts'
import { addressLink, blockLink } from '../parts/links.ts'
import { labelled, labelsOf } from '../parts/lists.ts'
import { meter } from '../parts/meter.ts'
import { dataTable, table } from '../parts/table.ts'

/** Headers that the charts show, oldest first. */
const SHOWN_HEADERS = 100

type Mining = Awaited<ReturnType<typeof miningBody>>

const NO_HEADERS = emptyState(
  'No proof headers yet.',
  html`Nobody mines this chain. A node mines with <code>--mine</code>; the newest header's miner is the beneficiary of the blocks after it.`,
)

const distribution = ({ distribution: parts, topMiners }: Mining): Html =>
  card(
    'Beneficiaries of the newest blocks',
    topMiners.length === 0
      ? NO_HEADERS
      : html`${meter(parts.slice(0, 4).map(({ percent }) => percent))}
${table(
  'Beneficiaries of the newest 3,600 blocks',
  [
    { title: 'Miner', cell: ({ address, label }) => addressLink(address, label) },
    { title: 'Blocks', isNumber: true, cell: ({ blocks }) => formatNumber(blocks) },
    { title: 'Share', isNumber: true, cell: ({ share }) => `${share} %` },
    { title: 'Earned', isNumber: true, cell: ({ rewards }) => formatNumber(rewards) },
    { title: 'Last block', cell: ({ lastBlock }) => blockLink(lastBlock) },
  ],
  topMiners,
  html``,
)}`,
  )

const intervals = ({ blockTimeDist }: Mining, spacingSeconds: number): Html => {
  const points = blockTimeDist.map(({ bucket, count }) => ({ label: bucket, value: count }))
  return card(
    'Time between headers',
    points.length === 0
      ? NO_HEADERS
      : html`${chart({ summary: 'Number of intervals between the newest headers by length', kind: 'bars', points, format: shortNumber, isProof: true })}
${dataTable(
  'Intervals between headers',
  ['Length', 'Intervals'],
  points.map(({ label, value }) => [label, value]),
)}`,
    `wanted: ${formatNumber(spacingSeconds)} s`,
  )
}

/** Difficulty of the newest headers, with the fork where it is among them. */
const difficulty = (headers: readonly ProofRow[], forkHeight: number): Html => {
  const points = headers.map(({ height, difficulty: work }) => ({ label: formatNumber(height), value: Number(work) }))
  const at = headers.findIndex(({ height }) => height === forkHeight)
  const marker = at < 0 ? undefined : { at, label: 'fork' }
  return card(
    'Difficulty',
    headers.length < 2
      ? NO_HEADERS
      : html`${chart({ summary: `Expected hashes of the newest ${headers.length} headers`, kind: 'line', points, format: shortNumber, isProof: true, marker })}
${dataTable(
  'Difficulty by height',
  ['Height', 'Expected hashes'],
  points.map(({ label, value }) => [label, formatNumber(value)]),
)}`,
    'expected hashes of a header',
  )
}

const RATES = ['H/s', 'kH/s', 'MH/s', 'GH/s', 'TH/s', 'PH/s', 'EH/s'] as const

/** Hashes per second with the unit that miners use. */
const rateText = (rate: number): string => {
  const power = Math.min(RATES.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, rate)) / 3)))
  return `${formatNumber(rate / 1_000 ** power)} ${RATES[power]}`
}

const SHOWN = 12

const recent = async (context: PageContext, headers: readonly ProofRow[]): Promise<Html> => {
  const rows = [...headers].reverse().slice(0, SHOWN)
  const labels = await labelsOf(
    context,
    rows.map(({ miner }) => checksumAddress(miner)),
  )
  return card(
    'Newest headers',
    table(
      'Newest headers of the proof chain',
      [
        { title: 'Height', cell: ({ height }) => formatNumber(height) },
        { title: 'Age', cell: ({ timestamp }) => ageOf(timestamp, context.nowMs()) },
        { title: 'Miner', cell: ({ miner }) => labelled(labels, checksumAddress(miner)) },
        { title: 'Algorithm', cell: ({ algorithm }) => html`<span class="chip proof">${algorithm}</span>` },
        { title: 'Expected hashes', isNumber: true, cell: ({ difficulty: work }) => formatNumber(Number(work)) },
        { title: 'Included in', cell: ({ blockNumber }) => blockLink(blockNumber) },
      ],
      rows,
      NO_HEADERS,
    ),
  )
}

const forkText = (height: number, forkHeight: number): string => {
  if (forkHeight === 0) return 'since the first header'
  return height >= forkHeight
    ? `since height ${formatNumber(forkHeight)}`
    : `in ${formatNumber(forkHeight - height)} headers, at height ${formatNumber(forkHeight)}`
}

const miningPage = async (context: PageContext): Promise<PageContent> => {
  const { rules, site } = context
  const { proofChain } = tandemOf(context)
  const [mining, newest] = await Promise.all([
    miningBody(context),
    context.index.proofHeaders({ limit: SHOWN_HEADERS, offset: 0, after: null }),
  ])
  const headers = newest.items.toReversed()
  const height = headers.at(-1)?.height ?? 0
  const { forkBlock, hashrate } = mining.networkStats
  const spacingSeconds = secondsOf(proofChain.spacingBlocks, rules)
  const { rewardEstimates: estimate } = mining
  return {
    title: 'Mining',
    body: html`
${heading('Mining', { marks: html`<span class="chip proof">proof chain</span>`, lead: 'The proof chain runs beside the main chain. The miner of its newest header is the beneficiary of the next blocks.' })}
${figures([
  ['Height', formatNumber(height)],
  [
    'Hash rate',
    hashrate === null ? 'not yet' : rateText(Number(hashrate)),
    hashrate === null ? 'from 20 headers on' : 'of the newest headers',
  ],
  [
    'Algorithm',
    headers.at(-1)?.algorithm ?? mining.networkStats.algorithm,
    html`${proofChain.after} ${forkText(height, forkBlock)}`,
  ],
  ['Miners', formatNumber(mining.networkStats.totalMiners), 'among the newest blocks'],
])}
<div class="columns">${intervals(mining, spacingSeconds)}${difficulty(headers, forkBlock)}</div>
${distribution(mining)}
${await recent(context, headers)}
${card(
  'What mining pays',
  facts([
    ['Minted in a cycle', `${formatNumber(estimate.rewardPerCycle)} ${site.symbol}`],
    [
      "The miners' part",
      html`${formatNumber(estimate.perCycle)} ${site.symbol} <small>${formatNumber(estimate.minerShare * 100)} %</small>`,
    ],
    ['In a day', `${formatNumber(estimate.perDay)} ${site.symbol}`],
    ['For a block, on average', `${formatNumber(estimate.perBlockAverage)} ${site.symbol}`],
    [
      'After the next cut',
      html`${formatNumber(estimate.after.perDay)} ${site.symbol} a day <small>from block ${formatNumber(estimate.nextHalvingBlock)}</small>`,
    ],
  ]),
  'of all miners together, without fees',
)}`,
  }
}

export const miningPages: readonly PageRoute[] = [{ path: '/mining', needsIndex: true, render: miningPage }]
