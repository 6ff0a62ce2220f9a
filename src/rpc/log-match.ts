import { loggedBlock } from '../chain/block-store.ts'
import { collectLogs } from '../chain/log-query.ts'
import type { ChainView, CommittedEvent, LogEntry, LogQuery } from '../chain/types.ts'
import type { BlockNumberRef } from './codecs/block.ts'
import type { LogCriteria } from './codecs/filter.ts'
import type { Services } from './context.ts'
import { logsJson } from './encode/log.ts'
import { invalidParams, serverError } from './errors.ts'
import { RawJson } from './json.ts'
import { mayLogMuch } from './large-answers.ts'

const EVERY_LOG = { addresses: [], topics: [] }

/** The logs of a block with their block-wide places, in order. */
export const entriesOf = ({ block, receipts }: CommittedEvent): LogEntry[] => {
  const entries: LogEntry[] = []
  collectLogs(loggedBlock(block, receipts), EVERY_LOG, entries, Number.POSITIVE_INFINITY)
  return entries
}

const resolve = (ref: BlockNumberRef | undefined, head: number): number => {
  if (ref === 'pending') throw serverError('pending logs are not supported')
  if (ref === undefined || ref === 'latest') return head
  return ref === 'earliest' ? 0 : ref
}

/** Both ends as given, not yet clamped to the head. Two explicit numbers in the wrong order are an error. */
export const rangeOf = (
  { fromBlock, toBlock }: LogCriteria,
  head: number,
): { readonly fromBlock: number; readonly toBlock: number } => {
  const range = { fromBlock: resolve(fromBlock, head), toBlock: resolve(toBlock, head) }
  if (typeof fromBlock === 'number' && typeof toBlock === 'number' && fromBlock > toBlock)
    throw invalidParams('invalid block range params')
  return range
}

/** What is asked of committed blocks, by block hash or range; the end is clamped to the head. undefined: nothing can fit. */
const logQueryOf = async (view: ChainView, criteria: LogCriteria): Promise<LogQuery | undefined> => {
  const { addresses, topics, blockHash } = criteria
  if (blockHash !== undefined) {
    const block = await view.blockByHash(blockHash)
    if (block === undefined) throw serverError('unknown block')
    return { fromBlock: block.header.number, toBlock: block.header.number, addresses, topics }
  }
  const head = view.head().header.number
  const { fromBlock, toBlock } = rangeOf(criteria, head)
  if (fromBlock > head || fromBlock > toBlock) return undefined
  return { fromBlock, toBlock: Math.min(toBlock, head), addresses, topics }
}

const isLight = async (view: ChainView, { fromBlock, toBlock }: LogQuery): Promise<boolean> => {
  if (fromBlock < toBlock) return false
  const block = await view.blockByNumber(fromBlock)
  return block !== undefined && !mayLogMuch(block)
}

/** All logs that fit, as JSON. One block that logs little is read here; the rest goes to the thread for it, where there is one. */
export const logsText = async (
  { view, wideLogs }: Pick<Services, 'view' | 'wideLogs'>,
  criteria: LogCriteria,
): Promise<RawJson> => {
  const query = await logQueryOf(view, criteria)
  if (query === undefined) return new RawJson('[]')
  if (wideLogs !== undefined && !(await isLight(view, query))) return new RawJson(await wideLogs.text(query))
  return new RawJson(logsJson(await view.logs(query)))
}
