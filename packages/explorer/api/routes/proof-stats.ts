import { isoDay } from '@tandem/web/times.ts'
import { checksumAddress } from '../../keccak.ts'
import { dayOf, hourOf } from '../../store/records.ts'
import type { ProofRow } from '../../store/sql/rows.ts'
import type { ApiContext } from '../api-route.ts'
import { roundTo } from '../format.ts'

/* Statistics of the proof chain, from the final headers of the index. */

/** Headers that intervals and rates are taken from. */
const WINDOW_HEADERS = 500
const SHOWN_HEADERS = 20
/** Headers below which a rate would be a guess. */
const RATE_HEADERS = 20
const SECONDS_PER_HOUR = 3_600
const PRODUCTION_HOURS = 24
const TREND_HOURS = 7 * 24
const MINER_DAYS = 30
const TIME_RANGES = 12

interface ProofStatsOptions {
  /** Number and timestamp of the main chain's head. */
  readonly head: { readonly number: number; readonly timestamp: number }
  /** Mean minting for a header over the cycles that pay it, tokens. */
  readonly rewardPerHeader: number
  readonly spacingSeconds: number
}

/** Lists and rates of the newest headers; empty and null without any. */
export const proofStats = async ({ index }: Pick<ApiContext, 'index'>, options: ProofStatsOptions) => {
  const { head, rewardPerHeader, spacingSeconds } = options
  const hour = hourOf(head.timestamp)
  const [{ items }, hours, days] = await Promise.all([
    index.proofHeaders({ limit: WINDOW_HEADERS, offset: 0, after: null }),
    index.proofHours(hour - TREND_HOURS),
    index.proofDays(dayOf(head.timestamp) - MINER_DAYS + 1),
  ])
  const headersOf = new Map(hours.map(row => [row.hour, row.headers]))
  return {
    newest: items[0],
    averageBlockTime: averageInterval(items),
    hashrate: hashrateOf(items),
    recentBlocks: items.slice(0, SHOWN_HEADERS).map(header => recentBlock(header, rewardPerHeader)),
    hourlyProduction: Array.from({ length: PRODUCTION_HOURS }, (_, at) => hour - PRODUCTION_HOURS + 1 + at).map(
      each => ({
        hour: each * SECONDS_PER_HOUR,
        blocks: headersOf.get(each) ?? 0,
      }),
    ),
    blockTimeDist: intervalRanges(items, spacingSeconds),
    dailyMiners: days.map(({ day, miners, headers }) => ({ date: isoDay(day), miners, blocks: headers })),
    // The hour of the head is not over.
    hashrateTrend: hours
      .filter(row => row.hour < hour)
      .map(row => ({
        timestamp: row.hour * SECONDS_PER_HOUR,
        hashrate: (row.work / BigInt(SECONDS_PER_HOUR)).toString(),
        difficulty: (row.work / BigInt(row.headers)).toString(),
      })),
  }
}

const recentBlock = (header: ProofRow, reward: number) => ({
  height: header.height,
  hash: header.id,
  miner: checksumAddress(header.miner),
  timestamp: header.timestamp,
  difficulty: header.difficulty.toString(),
  nonce: header.nonce,
  algorithm: header.algorithm,
  reward,
  mainBlock: header.blockNumber,
})

/** Seconds between the oldest and the newest of headers, newest first. */
const spanOf = (headers: readonly ProofRow[]): number => (headers[0]?.timestamp ?? 0) - (headers.at(-1)?.timestamp ?? 0)

const averageInterval = (headers: readonly ProofRow[]): number | null =>
  headers.length < 2 ? null : roundTo(spanOf(headers) / (headers.length - 1), 3)

/** Hashes per second that the headers after the oldest took; null when they are too few, or of one moment. */
const hashrateOf = (headers: readonly ProofRow[]): string | null => {
  const seconds = spanOf(headers)
  if (headers.length < RATE_HEADERS || seconds <= 0) return null
  const work = headers.slice(0, -1).reduce((sum, { difficulty }) => sum + difficulty, 0n)
  return (work / BigInt(seconds)).toString()
}

/** Number of intervals by their length, in ranges of a quarter of the wanted one; the last range is open. */
const intervalRanges = (headers: readonly ProofRow[], spacingSeconds: number) => {
  if (headers.length < 2) return []
  const width = Math.max(1, Math.round(spacingSeconds / 4))
  const counts = new Array<number>(TIME_RANGES).fill(0)
  headers.slice(1).forEach(({ timestamp }, at) => {
    const seconds = Math.max(0, (headers[at]?.timestamp ?? timestamp) - timestamp)
    const range = Math.min(TIME_RANGES - 1, Math.floor(seconds / width))
    counts[range] = (counts[range] ?? 0) + 1
  })
  return counts.map((count, at) => {
    const [from, to] = [at * width, at === TIME_RANGES - 1 ? null : (at + 1) * width]
    return { bucket: to === null ? `${from}s+` : `${from}-${to}s`, from, to, count }
  })
}
