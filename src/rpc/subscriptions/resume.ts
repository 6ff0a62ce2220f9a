import { isCoded } from '@tandem/base/errors.ts'
import { logEntries, loggedBlock } from '../../chain/logs/log-query.ts'
import { requireHistory } from '../../chain/store/earliest-block.ts'
import { ComparedLog, type LogCriteria } from '../../chain/store/log-criteria.ts'
import type { ChainView, LogEntry, LogQuery } from '../../chain/store/types.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import { headerJson } from '../encode/block.ts'
import { logJson } from '../encode/log.ts'
import { headerNotFound, invalidParams } from '../errors.ts'
import { TOO_MUCH } from './filters.ts'
import { encodeOnce, type NotificationPayload, type ResumePoint, type SubscriptionEntry } from './subscription-entry.ts'

/** Notifications of a range of blocks, each with the point after it, and the point after the range. */
interface MissedPart {
  readonly items: readonly { readonly payload: NotificationPayload; readonly after: ResumePoint }[]
  readonly after: ResumePoint
}

/** Checks where a subscription begins. Throws when the block is beyond the next one, not stored, or too far back. */
export const checkResume = (view: ChainView, { block }: ResumePoint): void => {
  const head = view.head().header.number
  if (block > head + 1) throw headerNotFound(block)
  if (head - block >= RPC_LIMITS.resumedBlocks)
    throw invalidParams(`block range too large: at most ${RPC_LIMITS.resumedBlocks} blocks`)
  // Genesis alone is known to be there.
  requireHistory(view.earliest(), Math.max(block, 1), head)
}

/** Subscription on its way from the first block that it misses to the head. */
export class Resume {
  readonly entry: SubscriptionEntry
  readonly #removed: Iterator<LogEntry, undefined>[] = []
  next: ResumePoint
  /** Blocks of one query. */
  #span = 1
  /** Changes with each rewind: what was read before may not be there any more. */
  rewinds = 0

  constructor(entry: SubscriptionEntry, next: ResumePoint) {
    this.entry = entry
    this.next = next
  }

  /** Called when blocks after `head` were reverted: those logs that were sent are to be sent as removed. */
  goBack(head: number, removedLogs: readonly LogEntry[]): void {
    this.rewinds++
    const { block, log } = this.next
    if (head >= block) return
    const { subscription } = this.entry
    if (subscription.kind === 'logs')
      this.#removed.push(
        removedLogs
          .filter(({ blockNumber, logIndex }) => blockNumber < block || (blockNumber === block && logIndex < log))
          .filter(removed => new ComparedLog(removed).matches(subscription.criteria))
          .values(),
      )
    this.next = { block: head + 1, log: 0 }
  }

  /** Returns the next log to send as removed. */
  nextRemoved(): LogEntry | undefined {
    for (;;) {
      const item = this.#removed[0]?.next()
      if (item === undefined) return undefined
      if (item.done !== true) return item.value
      this.#removed.shift()
    }
  }

  /** Reads what follows, up to `head`; undefined while the blocks are being reverted. */
  async read(view: ChainView, head: number): Promise<MissedPart | undefined> {
    const { subscription } = this.entry
    const { block } = this.next
    if (subscription.kind !== 'logs') {
      const found = await view.blockByNumber(block)
      const after = { block: block + 1, log: 0 }
      return found && { items: [{ payload: encodeOnce(() => headerJson(found)), after }], after }
    }
    const to = Math.min(head, block + this.#span - 1)
    const part = await this.#logPart(view, subscription.criteria, to)
    // Blocks go from the last one down: if that is there, so were the others.
    return (await view.headerByNumber(part.after.block - 1)) && part
  }

  async #logPart(view: ChainView, criteria: LogCriteria, toBlock: number): Promise<MissedPart> {
    const { block, log } = this.next
    const wide = toBlock > block ? await logsOfRange(view, { fromBlock: block, toBlock, ...criteria }) : undefined
    const logs = wide ?? (await logsOfBlock(view, block, criteria))
    const span = wide === undefined ? 1 : this.#span
    this.#span = logs.length > MANY_LOGS ? Math.ceil(span / 8) : Math.min(LONGEST_SPAN, 8 * span)
    const items = logs
      .filter(({ blockNumber, logIndex }) => blockNumber > block || logIndex >= log)
      .map(entry => ({
        payload: encodeOnce(() => logJson(entry, entry)),
        after: { block: entry.blockNumber, log: entry.logIndex + 1 },
      }))
    return { items, after: { block: (wide === undefined ? block : toBlock) + 1, log: 0 } }
  }
}

/** Logs of one query from which on the next range is shorter. */
const MANY_LOGS = 1_024
const LONGEST_SPAN = 65_536

/** Returns undefined when they are too many for a query. */
const logsOfRange = async (view: ChainView, query: LogQuery): Promise<readonly LogEntry[] | undefined> => {
  try {
    return await view.logs(query)
  } catch (error) {
    if (isCoded(error) && TOO_MUCH.has(error.code)) return undefined
    throw error
  }
}

/** Logs of one block have no limit, as those that are sent when it comes. */
const logsOfBlock = async (view: ChainView, number: number, criteria: LogCriteria): Promise<readonly LogEntry[]> => {
  const [block, receipts] = [await view.blockByNumber(number), await view.receipts(number)]
  if (block === undefined || receipts === undefined) return []
  return [...logEntries(loggedBlock(block, receipts), criteria)]
}
