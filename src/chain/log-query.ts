import { LIMITS } from '../config/limits.ts'
import type { Store } from '../storage/store.ts'
import type { Hex } from '../util/bytes.ts'
import { CodedError } from '../util/errors.ts'
import type { BlockStore, LoggedBlock } from './block-store.ts'
import { candidateBlocks } from './log-index.ts'
import type { ChainReadError, LogEntry, LogQuery } from './types.ts'

/** Bounds of one query. */
export interface LogQueryLimits {
  readonly results: number
  readonly timeoutMs: number
  /** Data of all logs together; `LIMITS.rpc.logBytes` by default. */
  readonly bytes?: number
  nowMs(): number
}

/**
 * Logs of committed blocks, ascending by block and index. Throws TOO_MANY_RESULTS, RESULTS_TOO_LARGE or QUERY_TIMEOUT. Every step awaits the
 * store, so a long query leaves room for other work between blocks.
 */
export const queryLogs = async (
  store: Store,
  blocks: BlockStore,
  query: LogQuery,
  limits: LogQueryLimits,
): Promise<readonly LogEntry[]> => {
  const found: LogEntry[] = []
  const limitBytes = limits.bytes ?? LIMITS.rpc.logBytes
  let bytes = 0
  const deadlineMs = limits.nowMs() + limits.timeoutMs
  const checkTime = () => {
    if (limits.nowMs() > deadlineMs) throw readError({ code: 'QUERY_TIMEOUT', timeoutMs: limits.timeoutMs })
  }
  for await (const number of candidateBlocks(store, query, checkTime)) {
    const block = await blocks.logged(number)
    if (block === undefined) continue
    const before = found.length
    collectLogs(block, query, found, limits.results)
    for (const log of found.slice(before)) bytes += log.data.byteLength
    if (bytes > limitBytes) throw readError({ code: 'RESULTS_TOO_LARGE', limitBytes })
    checkTime()
  }
  return found
}

/** Appends a block's matching logs to `found`. */
export const collectLogs = (
  block: LoggedBlock,
  query: Pick<LogQuery, 'addresses' | 'topics'>,
  found: LogEntry[],
  limit: number = LIMITS.rpc.logResults,
): void => {
  let logIndex = 0
  block.logs.forEach((logs, transactionIndex) => {
    for (const log of logs) {
      const index = logIndex++
      if (!matches(log, query)) continue
      if (found.length >= limit) throw readError({ code: 'TOO_MANY_RESULTS', limit })
      found.push({
        ...log,
        blockNumber: block.number,
        blockHash: block.hash,
        transactionHash: block.transactionHashes[transactionIndex] as Hex,
        transactionIndex,
        logIndex: index,
      })
    }
  })
}

/**
 * Whether a log has one of the addresses and, position by position, one of the topics. An empty or null position matches
 * anything, but a log with fewer topics than the query has positions does not match (as geth does it).
 */
export const matches = (
  log: { readonly address: Hex; readonly topics: readonly Hex[] },
  query: Pick<LogQuery, 'addresses' | 'topics'>,
): boolean => {
  if (query.addresses.length > 0 && !query.addresses.includes(log.address)) return false
  if (query.topics.length > log.topics.length) return false
  return query.topics.every(
    (alternatives, position) =>
      alternatives === null || alternatives.length === 0 || alternatives.includes(log.topics[position] as Hex),
  )
}

const readError = (detail: ChainReadError) => new CodedError(detail)
