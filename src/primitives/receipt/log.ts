import { asBuffer, bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { rlpListBytes, rlpStringBytes, writeRlpHeader, writeRlpHex, writeRlpString } from '../rlp/rlp.ts'
import { type RlpCursor, readHex32, rlpError } from '../rlp/rlp-cursor.ts'

export interface Log {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Uint8Array
}

/** Bloom and encoding of a list of logs. */
interface LogDigest {
  readonly bloom: Uint8Array
  readonly encoded: Uint8Array
}

const digests = new WeakMap<readonly Log[], LogDigest>()

/** Keeps what the maker of a list of logs knows of it: an engine that holds them as bytes computes both many times faster. */
export const rememberDigest = (logs: readonly Log[], digest: LogDigest): void => void digests.set(logs, digest)
export const digestOf = (logs: readonly Log[]): LogDigest | undefined => digests.get(logs)

/** LOG0 to LOG4. */
const MAX_TOPICS = 4

/** Encodes a list of logs [address, [topics], data]. Written in place, since logs are most of the bytes of a busy block's receipts. */
export const encodeLogs = (logs: readonly Log[]): Uint8Array => {
  if (logs.length === 0) return EMPTY_LIST
  const known = digestOf(logs)
  if (known !== undefined) return known.encoded
  let payload = 0
  for (const log of logs) payload += rlpListBytes(logPayload(log))
  const out = new Uint8Array(rlpListBytes(payload))
  const buffer = asBuffer(out)
  let at = writeRlpHeader(out, 0, payload, 0xc0)
  for (const log of logs) at = writeLog(log, buffer, at)
  return out
}

const EMPTY_LIST = Uint8Array.of(0xc0)
/** Sizes of an address and a topic with their prefix. */
const ADDRESS_BYTES = 21
const TOPIC_BYTES = 33

const logPayload = (log: Log): number =>
  ADDRESS_BYTES + rlpListBytes(TOPIC_BYTES * log.topics.length) + rlpStringBytes(log.data)

const writeLog = (log: Log, out: Buffer, start: number): number => {
  let at = writeRlpHeader(out, start, logPayload(log), 0xc0)
  at = writeRlpHex(log.address, 20, out, at)
  at = writeRlpHeader(out, at, TOPIC_BYTES * log.topics.length, 0xc0)
  for (const topic of log.topics) at = writeRlpHex(topic, 32, out, at)
  return writeRlpString(log.data, out, at)
}

/** Reads a list of logs at the cursor. Throws RLP_INVALID. */
export const readLogs = (cursor: RlpCursor): readonly Log[] =>
  cursor.takeEmptyList() ? NO_LOGS : [...readLogsInOrder(cursor)]

/** Yields the logs of a list one after the other; after the last the cursor is behind the list. Throws RLP_INVALID. */
export function* readLogsInOrder(cursor: RlpCursor): Generator<Log> {
  const outer = cursor.openList()
  while (cursor.hasMore()) yield readLog(cursor)
  cursor.closeList(outer)
}

export const NO_LOGS: readonly Log[] = []

/** Log in the bytes of its block's receipts: offsets of its parts, which are views only where one is needed. */
export interface EncodedLog {
  readonly transactionIndex: number
  /** Index in its block. */
  readonly logIndex: number
  readonly address: number
  readonly firstTopic: number
  readonly topicCount: number
  readonly data: number
  readonly end: number
}

/** Reads the log at the cursor without decoding it. Throws RLP_INVALID. */
export const readEncodedLog = (cursor: RlpCursor, transactionIndex: number, logIndex: number): EncodedLog => {
  const outer = cursor.openList()
  const address = cursor.offset(20)
  const list = cursor.openList()
  const firstTopic = cursor.position + 1
  let topicCount = 0
  for (; cursor.hasMore(); topicCount++) cursor.offset(32)
  if (topicCount > MAX_TOPICS) throw tooManyTopics()
  cursor.closeList(list)
  const data = cursor.offset()
  const end = cursor.position
  cursor.closeList(outer)
  return { transactionIndex, logIndex, address, firstTopic, topicCount, data, end }
}

/** Returns the offset of a topic. */
export const topicAt = ({ firstTopic }: EncodedLog, position: number): number => firstTopic + position * TOPIC_BYTES

/** Decodes a log. Its data is a copy: whoever keeps it would keep all receipts of its block. */
export const decodeLog = (row: Uint8Array, log: EncodedLog): Log => {
  const hex = (start: number, size: number): Hex => bytesToHex(row.subarray(start, start + size))
  const topics = Array.from({ length: log.topicCount }, (_, position) => hex(topicAt(log, position), 32))
  return { address: hex(log.address, 20), topics, data: row.slice(log.data, log.end) }
}

/** Reads the log at the cursor. Throws RLP_INVALID. */
export const readLog = (cursor: RlpCursor): Log => cursor.list(readLogItems)

const readLogItems = (cursor: RlpCursor): Log => {
  const address = cursor.hex(20)
  const topics = cursor.items(readHex32)
  if (topics.length > MAX_TOPICS) throw tooManyTopics()
  return { address, topics, data: cursor.bytes() }
}

const tooManyTopics = () => rlpError('rlp: more than four topics')
