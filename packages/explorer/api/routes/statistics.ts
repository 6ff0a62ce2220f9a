import { isoDay } from '@tandem/web/times.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import type { DayRow } from '../../store/sql/rows.ts'
import { invalidParameter } from '../api-error.ts'
import type { ApiContext, ApiRoute } from '../api-route.ts'
import { roundTo, tokensFromWei } from '../format.ts'
import { INTEGER, TEXT } from '../json-schema.ts'
import { SEARCH_SHAPE, STATS_SHAPE } from '../shapes.ts'
import { searchBody, searchText } from './search.ts'

const { days, searchChars } = EXPLORER_LIMITS.api

const dayBody = (day: DayRow) => ({
  date: isoDay(day.day),
  transactions: day.transactions,
  gasUsed: day.gasUsed.toString(),
  volume: tokensFromWei(day.valueWei),
  volumeWei: day.valueWei.toString(),
  feesWei: day.feesWei.toString(),
  burntWei: day.burntWei.toString(),
  activeAddresses: day.activeAddresses,
  newAddresses: day.newAddresses,
  newContracts: day.newContracts,
  averageGasPrice: day.transactions === 0 ? '0' : (day.gasPriceSum / BigInt(day.transactions)).toString(),
  averageBlockTime: day.blocks < 2 ? null : roundTo((day.lastTimestamp - day.firstTimestamp) / (day.blocks - 1), 3),
})

export const statsBody = async ({ index, verification }: ApiContext, wanted: number) => {
  const [counters, position, rows, verifiedContracts] = await Promise.all([
    index.counters(),
    index.position(),
    index.days(wanted),
    verification.contracts.contractCount(),
  ])
  const { blocks, transactions, addresses, contracts, tokens } = counters
  return {
    updatedBlock: position?.number ?? 0,
    totals: { blocks, transactions, addresses, contracts, verifiedContracts, tokens },
    days: rows.map(dayBody),
  }
}

export const statisticsRoutes: readonly ApiRoute[] = [
  {
    path: '/api/stats',
    summary: 'Totals, and sums of each UTC day, newest first',
    query: {
      days: { ...INTEGER, minimum: 1, maximum: days.max, default: days.default, description: 'How many days' },
    },
    result: STATS_SHAPE,
    needsIndex: true,
    handler: (context, { query }) => statsBody(context, (query['days'] as number | undefined) ?? days.default),
  },
  {
    path: '/api/search',
    summary: 'Tokens and labels that begin with a text, and what it names exactly',
    query: { q: { ...TEXT, description: `Text of 1 to ${searchChars} characters` } },
    result: SEARCH_SHAPE,
    needsIndex: true,
    handler: (context, { query }) => {
      const text = typeof query['q'] === 'string' ? searchText(query['q']) : undefined
      if (text === undefined) throw invalidParameter('q', `q: a text of 1 to ${searchChars} characters`)
      return searchBody(context, text)
    },
  },
]
