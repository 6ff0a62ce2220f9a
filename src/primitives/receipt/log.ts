import { assert } from '@tandem/base/assert.ts'
import { asBuffer, type Hex } from '@tandem/base/bytes.ts'
import { rlpHeaderBytes, rlpStringBytes, writeRlpHeader, writeRlpString } from '../rlp/rlp.ts'
import { type RlpCursor, rlpError } from '../rlp/rlp-cursor.ts'

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
  for (const log of logs) payload += listSize(logPayload(log))
  const out = new Uint8Array(listSize(payload))
  const buffer = asBuffer(out)
  let at = writeRlpHeader(out, 0, payload, 0xc0)
  for (const log of logs) at = writeLog(log, buffer, at)
  return out
}

const EMPTY_LIST = Uint8Array.of(0xc0)
/** Sizes of an address and a topic with their prefix. */
const ADDRESS_BYTES = 21
const TOPIC_BYTES = 33

const listSize = (payload: number): number => rlpHeaderBytes(payload) + payload
const logPayload = (log: Log): number =>
  ADDRESS_BYTES + listSize(TOPIC_BYTES * log.topics.length) + rlpStringBytes(log.data)

const writeLog = (log: Log, out: Buffer, start: number): number => {
  let at = writeRlpHeader(out, start, logPayload(log), 0xc0)
  at = writeHex(log.address, 20, out, at)
  at = writeRlpHeader(out, at, TOPIC_BYTES * log.topics.length, 0xc0)
  for (const topic of log.topics) at = writeHex(topic, 32, out, at)
  return writeRlpString(log.data, out, at)
}

const writeHex = (hex: Hex, size: number, out: Buffer, at: number): number => {
  out[at] = 0x80 + size
  const written = out.write(hex.slice(2), at + 1, size, 'hex')
  assert(written === size, 'an address has 20 bytes, a topic 32')
  return at + 1 + size
}

/** Reads a list of logs at the cursor. Throws RLP_INVALID. */
export const readLogs = (cursor: RlpCursor): readonly Log[] =>
  cursor.takeEmptyList() ? NO_LOGS : [...readLogsInOrder(cursor)]

/** The same, one log after the other: the cursor is behind the list after the last. Throws RLP_INVALID. */
export function* readLogsInOrder(cursor: RlpCursor): Generator<Log> {
  const outer = cursor.openList()
  while (cursor.hasMore()) yield readLog(cursor)
  cursor.closeList(outer)
}

export const NO_LOGS: readonly Log[] = []

/** Address and topics of an encoded log, as views. */
export interface LogParts {
  readonly address: Uint8Array
  readonly topics: readonly Uint8Array[]
}

/** Reads the parts of the log at the cursor, whose data it skips. Throws RLP_INVALID. */
export const readLogParts = (cursor: RlpCursor): LogParts => {
  const outer = cursor.openList()
  const address = cursor.bytes()
  const list = cursor.openList()
  const topics: Uint8Array[] = []
  while (cursor.hasMore()) topics.push(cursor.bytes())
  cursor.closeList(list)
  cursor.skip()
  cursor.closeList(outer)
  return { address, topics }
}

/** Reads the log at the cursor. Throws RLP_INVALID. */
export const readLog = (cursor: RlpCursor): Log => {
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
