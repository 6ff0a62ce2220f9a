import { EXPLORER_LIMITS } from '../../../config/limits/explorer.ts'
import { checksumAddress } from '../../../crypto/checksum.ts'
import type { Hex } from '../../../util/bytes.ts'
import type { DayRow, SearchRow } from '../../store/index-store.ts'
import { invalidParameter } from '../api-error.ts'
import type { ApiContext, ApiRoute } from '../api-route.ts'
import { dateOfDay, roundTo, tokensFromWei } from '../format.ts'
import { INTEGER, TEXT } from '../json-schema.ts'
import { SEARCH_SHAPE, STATS_SHAPE } from '../shapes.ts'

const { days, searchChars, searchResults } = EXPLORER_LIMITS.api

const dayBody = (day: DayRow): object => ({
  date: dateOfDay(day.day),
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

const statsBody = async ({ index }: ApiContext, wanted: number): Promise<object> => {
  const [counters, position, rows] = await Promise.all([index.counters(), index.position(), index.days(wanted)])
  const { blocks, transactions, addresses, contracts, tokens } = counters
  return {
    updatedBlock: position?.number ?? 0,
    totals: { blocks, transactions, addresses, contracts, verifiedContracts: 0, tokens },
    days: rows.map(dayBody),
  }
}

/** A text that names one thing exactly: an address, a hash or a number. */
const exactHits = async ({ index, source }: ApiContext, query: string): Promise<readonly object[]> => {
  const exact = { name: null, symbol: null, verified: false, score: 1 }
  if (/^0x[0-9a-fA-F]{40}$/.test(query)) {
    const address = query.toLowerCase() as Hex
    const [token, label] = await Promise.all([index.token(address), index.label(address)])
    const found = { ...exact, address: checksumAddress(address), name: token?.name ?? label ?? null }
    return [{ ...found, type: token ? 'token' : 'address', symbol: token?.symbol ?? null }]
  }
  if (/^0x[0-9a-fA-F]{64}$/.test(query)) {
    const hash = query.toLowerCase() as Hex
    if ((await source.blocks.locate(hash)) !== undefined) return [{ ...exact, type: 'transaction', hash }]
    const number = await source.blocks.numberOf(hash)
    return number === undefined ? [] : [{ ...exact, type: 'block', hash, number }]
  }
  if (!/^(0|[1-9][0-9]{0,14})$/.test(query)) return []
  return Number(query) <= ((await source.headNumber()) ?? -1)
    ? [{ ...exact, type: 'block', number: Number(query) }]
    : []
}

const namedHit = async ({ index }: ApiContext, { address, kind }: SearchRow, text: string): Promise<object> => {
  const token = kind === 'token' ? await index.token(address) : undefined
  const name = kind === 'token' ? (token?.name ?? null) : ((await index.label(address)) ?? null)
  const symbol = token?.symbol ?? null
  const isWhole = [name, symbol].some(found => found?.toLowerCase() === text)
  return { type: kind, address: checksumAddress(address), name, symbol, verified: false, score: isWhole ? 1 : 0.5 }
}

const searchBody = async (context: ApiContext, query: string): Promise<object> => {
  const exact = await exactHits(context, query)
  const text = query.normalize('NFC').toLowerCase()
  const rows = await context.index.search(text, searchResults)
  const named = await Promise.all(rows.map(row => namedHit(context, row, text)))
  return { query, results: [...exact, ...named].slice(0, searchResults) }
}

const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text)

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
      const text = typeof query['q'] === 'string' ? query['q'].trim() : ''
      if (text === '' || [...text].length > searchChars || !isWellFormed(text))
        throw invalidParameter('q', `q: a text of 1 to ${searchChars} characters`)
      return searchBody(context, text)
    },
  },
]
