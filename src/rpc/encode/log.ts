import type { LogEntry } from '../../chain/types.ts'
import type { Log } from '../../primitives/log.ts'
import { jsonData, jsonQuantity } from './hex.ts'

export interface LogPosition {
  readonly blockHash: string
  readonly blockNumber: number
  readonly transactionHash: string
  readonly transactionIndex: number
  readonly logIndex: number
}

/**
 * Log object in the form every Ethereum client reads. Only subscribers of a development chain see `removed`: blocks are final elsewhere.
 */
export const logJson = (log: Log, at: LogPosition, removed = false): string =>
  `{"address":"${log.address}","topics":[${topicsJson(log)}],"data":${jsonData(log.data)},"blockNumber":${jsonQuantity(at.blockNumber)},"transactionHash":"${at.transactionHash}","transactionIndex":${jsonQuantity(at.transactionIndex)},"blockHash":"${at.blockHash}","logIndex":${jsonQuantity(at.logIndex)},"removed":${removed}}`

const topicsJson = (log: Log): string => (log.topics.length === 0 ? '' : `"${log.topics.join('","')}"`)

export const logsJson = (entries: readonly LogEntry[]): string =>
  `[${entries.map(entry => logJson(entry, entry)).join(',')}]`
