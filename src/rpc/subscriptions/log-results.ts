import type { Cancellation } from '@tandem/base/async/cancellation.ts'
import { asBuffer } from '@tandem/base/bytes.ts'
import type { Meter } from '@tandem/base/client-budget.ts'
import type { Uint64 } from '@tandem/base/uint64.ts'
import type { LogText } from '../../chain/logs/log-service.ts'
import { type LogCriteria, packCriteria } from '../../chain/store/log-criteria.ts'
import type { ChainView, LogQuery } from '../../chain/store/types.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import type { LogFilterArgs as RequestedLogs } from '../codecs/filter.ts'
import { logsJson } from '../encode/log.ts'
import { invalidParams, serverError } from '../errors.ts'
import type { LogQueryPort } from '../ports.ts'
import { type BlockNumberRef, namedNumber } from '../router/block-reads.ts'
import { answersFull, type Budgets } from '../router/budgets.ts'
import { mayHaveLongReceipts } from '../router/large-responses.ts'
import { RawJson, StreamedJson } from '../router/raw-json.ts'
import { cutStream } from '../router/response.ts'

/** Numbers that no block has are as good as any other beyond the head. */
const resolve = (ref: BlockNumberRef = 'latest', head: number): number => {
  if (ref === 'pending') throw serverError('pending logs are not supported')
  return Number(namedNumber(ref, head))
}

export const isNumber = (ref: BlockNumberRef | undefined): ref is Uint64 => ref !== undefined && typeof ref !== 'string'

/** Returns both ends of the range, not yet clamped to the head. Two explicit numbers in the wrong order are an error. */
export const blockRangeFromCriteria = (
  { fromBlock, toBlock }: Pick<RequestedLogs, 'fromBlock' | 'toBlock'>,
  head: number,
): { readonly fromBlock: number; readonly toBlock: number } => {
  const range = { fromBlock: resolve(fromBlock, head), toBlock: resolve(toBlock, head) }
  if (isNumber(fromBlock) && isNumber(toBlock) && fromBlock > toBlock) throw invalidParams('invalid block range params')
  return range
}

/** Builds a query over a client's range; the end is clamped to the head. An empty range may begin behind its end. */
const rangeQuery = (
  view: ChainView,
  range: Pick<RequestedLogs, 'fromBlock' | 'toBlock'>,
  criteria: LogCriteria,
): LogQuery => {
  const head = view.head().header.number
  const { fromBlock, toBlock } = blockRangeFromCriteria(range, head)
  return { fromBlock, toBlock: Math.min(toBlock, head), ...criteria }
}

/** Builds the query over committed blocks, by block hash or range. */
const logQueryOf = async (view: ChainView, requested: RequestedLogs): Promise<LogQuery> => {
  const { blockHash } = requested
  const criteria = packCriteria(requested)
  if (blockHash === undefined) return rangeQuery(view, requested, criteria)
  const block = await view.blockByHash(blockHash)
  if (block === undefined) throw serverError('unknown block')
  return { fromBlock: block.header.number, toBlock: block.header.number, ...criteria }
}

const isLight = async (view: ChainView, { fromBlock, toBlock }: LogQuery): Promise<boolean> => {
  if (fromBlock < toBlock) return false
  const block = await view.blockByNumber(fromBlock)
  return block !== undefined && !mayHaveLongReceipts(block)
}

/** Returns text that came from the worker in pieces; long text becomes a stream. */
const jsonOf = (pieces: LogText): RawJson | StreamedJson => {
  let bytes = 0
  for (const piece of pieces) bytes += piece.byteLength
  if (bytes <= RPC_LIMITS.chunkChars)
    return new RawJson(pieces.map(piece => asBuffer(piece).toString('latin1')).join(''))
  const rest = pieces.toReversed()
  // Each is freed when it is read.
  const stream = cutStream(bytes, from => {
    const piece = rest.pop() as Uint8Array
    return { piece, end: from + piece.byteLength }
  })
  return new StreamedJson(() => stream, { heldBytes: bytes, length: bytes })
}

/** Parts of a request's context that a log query needs. */
interface Asking {
  readonly view: ChainView
  readonly logQueryPort?: LogQueryPort
  readonly client: string
  readonly cancellation?: Cancellation
  readonly budgets: Pick<Budgets, 'memory'>
}

/** Range of a log filter and its criteria. */
export interface LogFilterTarget extends Pick<RequestedLogs, 'fromBlock' | 'toBlock'> {
  readonly criteria: LogCriteria
}

/** Charges the ledger with a result while it is made; from then on its reader's budget has it. */
const charged = async (
  meter: Meter,
  run: (charge: (bytes: number) => void) => Promise<LogText>,
): Promise<RawJson | StreamedJson> => {
  try {
    return jsonOf(
      await run(bytes => {
        if (!meter.hold(bytes)) throw answersFull()
      }),
    )
  } finally {
    meter.hold(0)
  }
}

/** Returns all logs within the limits as JSON: a block with few logs is read here, other queries by the log worker, if any. */
export const queryText = async (
  { view, logQueryPort, client, cancellation, budgets }: Asking,
  query: LogQuery,
): Promise<RawJson | StreamedJson> => {
  if (query.fromBlock > query.toBlock) return new RawJson('[]')
  if (logQueryPort !== undefined && !(await isLight(view, query)))
    return charged(budgets.memory.meter(client), charge => logQueryPort.text(query, client, cancellation, charge))
  return new RawJson(logsJson(await view.logs(query)))
}

/** Returns the logs of a request. */
export const logsText = async (asking: Asking, requested: RequestedLogs): Promise<RawJson | StreamedJson> =>
  queryText(asking, await logQueryOf(asking.view, requested))

/** Returns all logs of a filter. */
export const filterText = (asking: Asking, { criteria, ...range }: LogFilterTarget): Promise<RawJson | StreamedJson> =>
  queryText(asking, rangeQuery(asking.view, range, criteria))
