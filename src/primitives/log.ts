import { type Hex, hexToBytes } from '../util/bytes.ts'
import type { RlpItem } from './rlp.ts'
import { type RlpCursor, rlpError } from './rlp-cursor.ts'

export interface Log {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Uint8Array
}

/** LOG0 to LOG4. */
const MAX_TOPICS = 4

export const logItem = (log: Log): readonly RlpItem[] => [hexToBytes(log.address), log.topics.map(hexToBytes), log.data]

/** Reads a list of logs where the cursor stands. Throws RLP_INVALID. */
export const readLogs = (cursor: RlpCursor): readonly Log[] => {
  if (cursor.takeEmptyList()) return NO_LOGS
  const outer = cursor.openList()
  const logs: Log[] = []
  while (cursor.hasMore()) logs.push(readLog(cursor))
  cursor.closeList(outer)
  return logs
}

const NO_LOGS: readonly Log[] = []

const readLog = (cursor: RlpCursor): Log => {
  const outer = cursor.openList()
  const address = cursor.hex(20)
  const list = cursor.openList()
  const topics: Hex[] = []
  while (cursor.hasMore()) topics.push(cursor.hex(32))
  if (topics.length > MAX_TOPICS) throw rlpError('rlp: more than four topics')
  cursor.closeList(list)
  const data = cursor.bytes()
  cursor.closeList(outer)
  return { address, topics, data }
}
