import { formatNumber } from '@tandem/web/amounts.ts'
import { html } from '@tandem/web/html.ts'
import { card, emptyState, figures } from '@tandem/web/parts.ts'
import { durationText } from '@tandem/web/times.ts'
import { unionsBody } from '../../api/routes/network.ts'
import { secondsOf } from '../../chain/rules.ts'
import type { PageContent, PageContext, PageRoute } from '../page-route.ts'
import { shortNumber } from '../parts/chart.ts'
import { heading } from '../parts/heading.ts'
import { addressLink, blockLink, nameText } from '../parts/links.ts'
import { counted } from '../parts/pager.ts'
import { table } from '../parts/table.ts'
import { tokens } from '../parts/values.ts'

/** Percents that a small stake makes very large in few characters. */
const aprText = (apr: number): string => (apr < 100_000 ? formatNumber(apr) : shortNumber(apr))

const validatorsPage = async (context: PageContext): Promise<PageContent> => {
  const { node, site, rules } = context
  const [{ members, totalCnt, halving }, committee] = await Promise.all([unionsBody(context), node.committee()])
  const staked = members.reduce((sum, { totalStakedWei }) => sum + BigInt(totalStakedWei), 0n)
  const inCommittee = new Set(committee)
  const seconds = secondsOf(halving.blocksRemaining, rules)
  return {
    title: 'Validators',
    body: html`
${heading('Validators', { lead: 'The council: those who may propose and sign blocks. A committee drawn from it decides each block.' })}
${figures([
  ['Council', formatNumber(totalCnt), counted(members.filter(({ online }) => online).length, 'active member')],
  ['Committee of the next block', committee === undefined ? 'not known' : formatNumber(committee.length)],
  ['Staked', tokens(staked), site.symbol],
  ['Next cut of the reward', formatNumber(halving.blocksRemaining), `blocks, about ${durationText(seconds)}`],
])}
${card(
  'Council',
  table(
    'Members of the council',
    [
      {
        title: 'Name',
        cell: ({ name, address }) =>
          html`${nameText(name, 'no name')} ${inCommittee.has(address.toLowerCase() as `0x${string}`) && html`<span class="chip">committee</span>`}`,
      },
      { title: 'Address', cell: ({ address }) => addressLink(address) },
      {
        title: 'Status',
        cell: ({ online }) =>
          online ? html`<span class="chip good">active</span>` : html`<span class="chip bad">inactive</span>`,
      },
      { title: 'Stake', isNumber: true, cell: ({ totalStakedWei }) => `${tokens(totalStakedWei)} ${site.symbol}` },
      { title: 'Slots', isNumber: true, cell: ({ slots }) => formatNumber(slots) },
      { title: 'Proposed', isNumber: true, cell: ({ proposedBlocks }) => formatNumber(proposedBlocks) },
      { title: 'Earned', isNumber: true, cell: ({ totalRewardWei }) => `${tokens(totalRewardWei)} ${site.symbol}` },
      {
        title: 'APR',
        isNumber: true,
        cell: ({ halvingAwareAPR }) => (halvingAwareAPR === null ? 'no stake' : `${aprText(halvingAwareAPR)} %`),
      },
      {
        title: 'Since',
        cell: ({ startBlockNumber }) => (startBlockNumber === null ? 'not known' : blockLink(startBlockNumber)),
      },
    ],
    members,
    emptyState('The council is not known here.', 'The node is still fetching the chain.'),
  ),
  'APR: what a year of minting pays on the stake, with the next cut counted in',
)}`,
  }
}

export const validatorPages: readonly PageRoute[] = [{ path: '/validators', needsIndex: true, render: validatorsPage }]
