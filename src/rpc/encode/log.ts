import { asBuffer } from '@tandem/base/bytes.ts'
import type { LogEntry } from '../../chain/store/types.ts'
import type { Log } from '../../primitives/receipt/log.ts'
import { jsonData, jsonQuantity } from './hex.ts'

/** Place of a log in the chain. */
type LogPosition = Omit<LogEntry, keyof Log>

/** Log object as Ethereum clients read it. Only a development chain's subscribers see `removed`: blocks are final elsewhere. */
export const logJson = (log: Log, at: LogPosition, removed = false): string =>
  `${beforeData(log)}${jsonData(log.data)}${afterData(at, removed)}`

/** Yields the text of a log in pieces: it may have megabytes of data. */
export function* logPieces(log: Log, at: LogPosition): Generator<string> {
  const { data } = log
  if (data.byteLength <= PIECE_BYTES) {
    yield logJson(log, at)
    return
  }
  yield `${beforeData(log)}"0x`
  const bytes = asBuffer(data)
  for (let start = 0; start < bytes.byteLength; start += PIECE_BYTES)
    yield bytes.hexSlice(start, Math.min(bytes.byteLength, start + PIECE_BYTES))
  yield `"${afterData(at, false)}`
}

const PIECE_BYTES = 32 * 1024

const beforeData = (log: Log): string => `{"address":"${log.address}","topics":[${topicsJson(log)}],"data":`

const afterData = (at: LogPosition, removed: boolean): string =>
  `,"blockNumber":${jsonQuantity(at.blockNumber)},"blockTimestamp":${jsonQuantity(at.blockTimestamp)},"transactionHash":"${at.transactionHash}","transactionIndex":${jsonQuantity(at.transactionIndex)},"blockHash":"${at.blockHash}","logIndex":${jsonQuantity(at.logIndex)},"removed":${removed}}`

const topicsJson = (log: Log): string => (log.topics.length === 0 ? '' : `"${log.topics.join('","')}"`)

export const logsJson = (entries: readonly LogEntry[]): string =>
  `[${entries.map(entry => logJson(entry, entry)).join(',')}]`
