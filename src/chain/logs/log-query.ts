import { readAhead } from '@tandem/base/async/read-ahead.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import type { Log } from '../../primitives/receipt/log.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import type { Store } from '../../storage/store.ts'
import type { BlockStore } from '../store/block-store.ts'
import { ComparedLog, type LogCriteria } from '../store/log-criteria.ts'
import type { ChainBlock, ChainReadError, LogEntry, LogQuery } from '../store/types.ts'
import { candidateBlocks, type LogCandidate } from './log-candidates.ts'

/** Limits of one query. */
export interface LogQueryLimits {
  readonly results: number
  readonly timeoutMs: number
  /** Limit of the data of all logs; `RPC_LIMITS.logBytes` by default. */
  readonly bytes?: number
  nowMs(): number
}

/** Finds the matching logs of a block, at most `limit`; undefined: none. */
type FindLogs<Found> = (candidate: LogCandidate, limit: number) => Promise<Found | undefined>

/** Number of logs found, and bytes of their data. */
interface FoundLogs {
  readonly count: number
  readonly dataBytes: number
}

/** Yields what `find` finds, ascending, block by block, awaiting the store at each step. Throws TOO_MANY_RESULTS, RESULTS_TOO_LARGE or QUERY_TIMEOUT. */
export async function* matchingLogs<Found extends FoundLogs>(
  store: Store,
  query: LogQuery,
  limits: LogQueryLimits,
  find: FindLogs<Found>,
): AsyncGenerator<Found> {
  const limitBytes = limits.bytes ?? RPC_LIMITS.logBytes
  let count = 0
  let bytes = 0
  const deadlineMs = limits.nowMs() + limits.timeoutMs
  const checkTime = () => {
    if (limits.nowMs() > deadlineMs) throw readError({ code: 'QUERY_TIMEOUT', timeoutMs: limits.timeoutMs })
  }
  const candidates = isShort(query) ? everyBlock(query) : candidateBlocks(store, query, checkTime)
  const read = async (candidate: LogCandidate) => ({
    number: candidate.number,
    found: await find(candidate, limits.results - count + 1),
  })
  for await (const { number, found } of readAhead(candidates, READ_BLOCKS, read)) {
    if (found === undefined) continue
    count += found.count
    if (count > limits.results) throw tooManyResults(query, number, limits)
    bytes += found.dataBytes
    if (bytes > limitBytes) throw readError({ code: 'RESULTS_TOO_LARGE', limitBytes })
    yield found
    checkTime()
    await sliceOver()
  }
}

/** Blocks read ahead. */
const READ_BLOCKS = 4

/** Names the longest range from the first block that has no more results than are allowed, if there is one. */
const tooManyResults = ({ fromBlock }: LogQuery, number: number, { results }: LogQueryLimits): CodedError =>
  readError({
    code: 'TOO_MANY_RESULTS',
    limit: results,
    ...(number > fromBlock && { fits: { fromBlock, toBlock: number - 1 } }),
  })

/** Finds logs of a block as entries: of a recent one in its objects. */
const entriesOf = async (
  blocks: BlockStore,
  query: LogQuery,
  { number, wanted }: LogCandidate,
  limit: number,
): Promise<readonly LogEntry[]> => {
  const recent = blocks.recent(number)
  if (recent === undefined) return (await blocks.logs(number, query, limit, wanted))?.entries() ?? []
  const found: LogEntry[] = []
  for (const log of logEntries(loggedBlock(recent.block, recent.receipts), query)) if (found.push(log) === limit) break
  return found
}

/** Returns all matching logs within the limits. */
export const queryLogs = async (
  store: Store,
  blocks: BlockStore,
  query: LogQuery,
  limits: LogQueryLimits,
): Promise<readonly LogEntry[]> => {
  const find = async (candidate: LogCandidate, limit: number) => {
    const entries = await entriesOf(blocks, query, candidate, limit)
    return { entries, count: entries.length, dataBytes: entries.reduce((sum, { data }) => sum + data.byteLength, 0) }
  }
  const found: LogEntry[] = []
  for await (const { entries } of matchingLogs(store, query, limits, find)) for (const log of entries) found.push(log)
  return found
}

/** Up to this many blocks, a query for all logs skips the index, which takes longer to open: recent blocks are in memory. */
const SHORT_BLOCKS = 16

const isShort = ({ fromBlock, toBlock, addresses, topics }: LogQuery): boolean =>
  toBlock - fromBlock < SHORT_BLOCKS && addresses.length + topics.length === 0

function* everyBlock({ fromBlock, toBlock }: LogQuery): Generator<LogCandidate> {
  for (let number = fromBlock; number <= toBlock; number++) yield { number }
}

/** Decoded block as readers of its logs use it: it does not hold the transactions. */
interface LoggedBlock {
  readonly place: Pick<LogEntry, 'blockNumber' | 'blockTimestamp' | 'blockHash'>
  /** By transaction; null for those without logs, whose hashes are not needed. */
  readonly transactionHashes: readonly (Hex | null)[]
  /** Logs by transaction. */
  readonly logs: readonly (readonly Log[])[]
}

export const loggedBlock = ({ header, hash, transactions }: ChainBlock, receipts: readonly Receipt[]): LoggedBlock => ({
  place: { blockNumber: header.number, blockTimestamp: header.timestamp, blockHash: hash },
  transactionHashes: receipts.map(({ logs }, index) => (logs.length > 0 ? (transactions[index]?.hash as Hex) : null)),
  logs: receipts.map(({ logs }) => logs),
})

/** Yields the matching logs of a block in order, with their block-wide indexes. */
export function* logEntries(block: LoggedBlock, criteria: LogCriteria): Generator<LogEntry> {
  let logIndex = 0
  for (const [transactionIndex, logs] of block.logs.entries())
    for (const log of logs) {
      const index = logIndex++
      if (!new ComparedLog(log).matches(criteria)) continue
      yield {
        ...log,
        ...block.place,
        transactionHash: block.transactionHashes[transactionIndex] as Hex,
        transactionIndex,
        logIndex: index,
      }
    }
}

const readError = (detail: ChainReadError) => new CodedError(detail)
