import type { ChainView, CommittedEvent, LogEntry } from '../chain/types.ts'
import type { BlockNumberRef } from './codecs/block.ts'
import type { LogCriteria } from './codecs/filter.ts'
import { invalidParams, serverError } from './errors.ts'

/** The logs of a block with their block-wide places, in order. */
export const entriesOf = ({ block, receipts }: CommittedEvent): LogEntry[] => {
  const entries: LogEntry[] = []
  const { hash: blockHash, header } = block
  receipts.forEach((receipt, transactionIndex) => {
    const transactionHash = block.transactions[transactionIndex]?.hash
    if (transactionHash === undefined) return
    for (const log of receipt.logs)
      entries.push({
        ...log,
        blockHash,
        blockNumber: header.number,
        transactionHash,
        transactionIndex,
        logIndex: entries.length,
      })
  })
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

/** All logs that fit, by block hash or range; the end is clamped to the head. */
export const queryLogs = async (view: ChainView, criteria: LogCriteria): Promise<readonly LogEntry[]> => {
  const { addresses, topics, blockHash } = criteria
  if (blockHash !== undefined) {
    const block = await view.blockByHash(blockHash)
    if (block === undefined) throw serverError('unknown block')
    return view.logs({ fromBlock: block.header.number, toBlock: block.header.number, addresses, topics })
  }
  const head = view.head().header.number
  const { fromBlock, toBlock } = rangeOf(criteria, head)
  if (fromBlock > head || fromBlock > toBlock) return []
  return view.logs({ fromBlock, toBlock: Math.min(toBlock, head), addresses, topics })
}
