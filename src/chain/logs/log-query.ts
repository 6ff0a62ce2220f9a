import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import type { Store } from '../../storage/store.ts'
import type { BlockStore } from '../store/block-store.ts'
import type { LoggedBlock } from '../store/logged-block.ts'
import type { ChainReadError, LogEntry, LogQuery } from '../types.ts'
import { ComparedLog, type LogCriteria } from './log-criteria.ts'
import { candidateBlocks } from './log-index.ts'

/** Limits of one query. */
export interface LogQueryLimits {
  readonly results: number
  readonly timeoutMs: number
  /** Limit of the data of all logs; `RPC_LIMITS.logBytes` by default. */
  readonly bytes?: number
  nowMs(): number
}

/**
 * Yields logs of committed blocks, ascending by block and index, block by block. Throws TOO_MANY_RESULTS, RESULTS_TOO_LARGE or
 * QUERY_TIMEOUT. Every step awaits the store, so a long query leaves time for other work between blocks.
 */
export async function* matchingLogs(
  store: Store,
  blocks: BlockStore,
  query: LogQuery,
  limits: LogQueryLimits,
): AsyncGenerator<readonly LogEntry[]> {
  const limitBytes = limits.bytes ?? RPC_LIMITS.logBytes
  let count = 0
  let bytes = 0
  const deadlineMs = limits.nowMs() + limits.timeoutMs
  const checkTime = () => {
    if (limits.nowMs() > deadlineMs) throw readError({ code: 'QUERY_TIMEOUT', timeoutMs: limits.timeoutMs })
  }
  for await (const number of isShort(query) ? numbersOf(query) : candidateBlocks(store, query, checkTime)) {
    const block = await blocks.logged(number)
    if (block === undefined) continue
    const found: LogEntry[] = []
    for (const log of logEntries(block, query)) {
      if (count + found.length >= limits.results) throw readError({ code: 'TOO_MANY_RESULTS', limit: limits.results })
      found.push(log)
    }
    count += found.length
    for (const log of found) bytes += log.data.byteLength
    if (bytes > limitBytes) throw readError({ code: 'RESULTS_TOO_LARGE', limitBytes })
    yield found
    checkTime()
  }
}

/** Collects all results of `matchingLogs`. */
export const queryLogs = async (
  store: Store,
  blocks: BlockStore,
  query: LogQuery,
  limits: LogQueryLimits,
): Promise<readonly LogEntry[]> => {
  const found: LogEntry[] = []
  for await (const logs of matchingLogs(store, blocks, query, limits)) for (const log of logs) found.push(log)
  return found
}

/** Up to this many blocks, a query for all logs skips the index, which takes longer to open: recent blocks are in memory. */
const SHORT_BLOCKS = 16

const isShort = ({ fromBlock, toBlock, addresses, topics }: LogQuery): boolean =>
  toBlock - fromBlock < SHORT_BLOCKS && addresses.length + topics.length === 0

function* numbersOf({ fromBlock, toBlock }: LogQuery): Generator<number> {
  for (let number = fromBlock; number <= toBlock; number++) yield number
}

/** Yields the matching logs of a block in order, with their block-wide indexes. */
export function* logEntries(block: LoggedBlock, criteria: LogCriteria): Generator<LogEntry> {
  let logIndex = 0
  for (const [transactionIndex, logs] of block.logs.entries())
    for (const log of logs) {
      const index = logIndex++
      if (!new ComparedLog(log).matches(criteria)) continue
      yield {
        ...log,
        blockNumber: block.number,
        blockHash: block.hash,
        transactionHash: block.transactionHashes[transactionIndex] as Hex,
        transactionIndex,
        logIndex: index,
      }
    }
}

const readError = (detail: ChainReadError) => new CodedError(detail)
