import { asBuffer } from '@tandem/base/bytes.ts'
import type { LogWriter } from '../../chain/logs/log-server.ts'
import type { EncodedLogs } from '../../chain/store/stored-block.ts'
import type { LogEntry } from '../../chain/store/types.ts'
import { type Log, topicAt } from '../../primitives/receipt/log.ts'
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

/** Writes what `logJson` returns, from the bytes of stored logs. */
export const logWriter: LogWriter = (text, found) => {
  const { row, place } = found
  const hash = ascii(`"${beforeHash(place)}0x`)
  const logIndex = ascii(`"${beforeIndex(place)}"0x`)
  return log => {
    text.add(ADDRESS)
    text.addHex(row, log.address, log.address + 20)
    for (let position = 0; position < log.topicCount; position++) {
      const at = topicAt(log, position)
      text.add(position === 0 ? TOPICS : NEXT_TOPIC)
      text.addHex(row, at, at + 32)
    }
    text.add(log.topicCount === 0 ? NO_TOPICS : DATA)
    text.addHex(row, log.data, log.end)
    text.add(hash)
    text.addHex(found.transactionHash(log.transactionIndex), 0, 32)
    text.add(TRANSACTION_INDEX)
    text.addNumber(log.transactionIndex)
    text.add(logIndex)
    text.addNumber(log.logIndex)
    text.add(END)
  }
}

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)
const ADDRESS = ascii('{"address":"0x')
const TOPICS = ascii('","topics":["0x')
const NEXT_TOPIC = ascii('","0x')
const NO_TOPICS = ascii('","topics":[],"data":"0x')
const DATA = ascii('"],"data":"0x')
const TRANSACTION_INDEX = ascii('","transactionIndex":"0x')
const END = ascii('","removed":false}')

const beforeData = (log: Log): string => `{"address":"${log.address}","topics":[${topicsJson(log)}],"data":`

const afterData = (at: LogPosition, removed: boolean): string =>
  `${beforeHash(at)}${at.transactionHash}","transactionIndex":${jsonQuantity(at.transactionIndex)}${beforeIndex(at)}${jsonQuantity(at.logIndex)},"removed":${removed}}`

const beforeHash = ({ blockNumber, blockTimestamp }: EncodedLogs['place']): string =>
  `,"blockNumber":${jsonQuantity(blockNumber)},"blockTimestamp":${jsonQuantity(blockTimestamp)},"transactionHash":"`
const beforeIndex = ({ blockHash }: EncodedLogs['place']): string => `,"blockHash":"${blockHash}","logIndex":`

const topicsJson = (log: Log): string => (log.topics.length === 0 ? '' : `"${log.topics.join('","')}"`)

export const logsJson = (entries: readonly LogEntry[]): string =>
  `[${entries.map(entry => logJson(entry, entry)).join(',')}]`
