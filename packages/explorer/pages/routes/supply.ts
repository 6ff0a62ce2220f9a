import { formatNumber } from '@tandem/web/amounts.ts'
import { type Html, html } from '@tandem/web/html.ts'
import { card, facts, figures } from '@tandem/web/parts.ts'
import { durationText } from '@tandem/web/times.ts'
import { tandemOf } from '../../api/api-route.ts'
import { tokensFromWei } from '../../api/format.ts'
import { currentSupply, mintedUpTo, nextHalving, rewardOfPeriod, supplyBody } from '../../api/routes/economy.ts'
import { type RewardRules, secondsOf } from '../../chain/rules.ts'
import type { PageContent, PageContext, PageRoute } from '../page-route.ts'
import { chart, shortNumber } from '../parts/chart.ts'
import { heading } from '../parts/heading.ts'
import { meter } from '../parts/meter.ts'
import { dataTable } from '../parts/table.ts'
import { tokens } from '../parts/values.ts'

/** Periods of the curve, and points in each. */
const PERIODS = 12
const STEPS = 4

/** Minted tokens over the periods to come, from the rule alone. */
const curve = (rewards: RewardRules, number: number): Html => {
  const width = rewards.halvingBlocks / STEPS
  const periods = Math.max(PERIODS, Math.ceil(number / rewards.halvingBlocks) + 2)
  const heights = Array.from({ length: Math.min(periods, 64) * STEPS + 1 }, (_, at) => Math.floor(at * width))
  const points = heights.map(height => ({
    label: `${formatNumber(height / rewards.halvingBlocks)}`,
    value: tokensFromWei(mintedUpTo(height, rewards)),
  }))
  const at = Math.min(points.length - 1, number / width)
  const rows = heights
    .filter((_, at) => at % STEPS === 0)
    .map((height, period) => [
      String(period),
      formatNumber(height),
      tokens(rewardOfPeriod(period, rewards)),
      tokens(mintedUpTo(height, rewards)),
    ])
  return html`${chart({ summary: 'Minted tokens by period of the reward', kind: 'line', isWide: true, labelEvery: STEPS, points, format: shortNumber, marker: { at, label: 'now' } })}
${dataTable('Minted tokens by period', ['Period', 'Begins at block', 'Minted in a cycle', 'Minted before'], rows)}`
}

const supplyPage = async (context: PageContext): Promise<PageContent> => {
  const { rules, site } = context
  const { rewards } = tandemOf(context)
  const current = await currentSupply(context)
  const { number } = current
  const body = supplyBody(current, rewards)
  const halving = nextHalving(number, rewards)
  const seconds = secondsOf(halving.blocksRemaining, rules)
  const { miners, union, foundation } = body.breakdown
  const share = (name: string, { share: part, totalWei }: typeof miners): readonly [string, Html] => [
    name,
    html`${tokens(totalWei)} ${site.symbol} <small>${formatNumber(part * 100)} %</small>`,
  ]
  return {
    title: 'Supply',
    body: html`
${heading('Supply', { lead: 'Tokens are minted at the end of each cycle of blocks. The amount is cut at the end of each period.' })}
${figures([
  ['Minted', tokens(body.totalMintedWei), html`${site.symbol}, ${body.mintedPercent} % of the maximum`],
  ['Supply', tokens(body.currentSupplyWei), html`${site.symbol}, ${tokens(body.totalBurntWei)} burnt`],
  ['Maximum', shortNumber(body.totalSupply), 'the genesis allocation with everything that will be minted'],
  ['Minted in a cycle', tokens(halving.currentWei), html`${site.symbol} each ${rewards.cycleBlocks} blocks`],
  [
    'Next cut',
    html`Block ${formatNumber(halving.nextBlock)}`,
    `in about ${durationText(seconds)}, to ${tokens(halving.nextWei)}`,
  ],
])}
${card('Minted over the periods', curve(rewards, number), `a period has ${formatNumber(rewards.halvingBlocks)} blocks`)}
${card('Who receives it', html`${meter([miners, union, foundation].map(({ share: part }) => part * 100))}${facts([share('Miners', miners), share('Proposers', union), share('Foundation', foundation)])}`)}`,
  }
}

export const supplyPages: readonly PageRoute[] = [{ path: '/supply', needsIndex: false, render: supplyPage }]
