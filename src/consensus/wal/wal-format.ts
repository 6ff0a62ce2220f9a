import { crc32 } from 'node:zlib'
import { assert } from '@tandem/base/assert.ts'
import { asBuffer } from '@tandem/base/bytes.ts'
import { CONSENSUS_LIMITS } from '../../config/limits/consensus.ts'

/*
 * Encoding of the write-ahead log. Record: u32 length of the part after the checksum | u32 crc32 of it | u8 type | u32 batch
 * | payload. (crc32 rather than crc32c: node:zlib has it natively.)
 */
export interface WalEntry {
  readonly type: number
  readonly payload: Uint8Array
}

/** `missing`: there is no log. `corrupt`: a durable batch is damaged; the content cannot be trusted. */
export type WalCondition = 'missing' | 'sound' | 'corrupt'

export const WAL_MAGIC = new TextEncoder().encode('PBFTWAL1')
const RECORD_HEADER_BYTES = 8
const BODY_HEADER_BYTES = 5

/** Encodes one record of a batch. */
export const encodeWalRecord = ({ type, payload }: WalEntry, batch: number): Uint8Array => {
  assert(type > 0 && type < 256, 'record types are bytes above zero')
  const record = Buffer.allocUnsafe(RECORD_HEADER_BYTES + BODY_HEADER_BYTES + payload.byteLength)
  record.writeUInt32LE(BODY_HEADER_BYTES + payload.byteLength, 0)
  record.writeUInt8(type, 8)
  record.writeUInt32LE(batch, 9)
  record.set(payload, 13)
  record.writeUInt32LE(crc32(record.subarray(RECORD_HEADER_BYTES)), 4)
  return record
}

/** Content of a log, with a torn end cut off. */
export interface WalScan {
  readonly condition: WalCondition
  readonly entries: readonly WalEntry[]
  /** Offset of the next record. */
  readonly end: number
  readonly batch: number
  readonly tornBytes: number
}

/** Scans a log: returns the complete records before the first torn one; undefined content means no file. */
export const scanWal = (content: Uint8Array | undefined): WalScan => {
  const empty = { entries: [], end: 0, batch: 0, tornBytes: 0 }
  if (content === undefined) return { condition: 'missing', ...empty }
  const bytes = asBuffer(content)
  // The magic is durable before the first batch is written, so nothing follows a torn one.
  const used = usedBytes(bytes)
  if (used < WAL_MAGIC.byteLength && asBuffer(WAL_MAGIC).subarray(0, used).equals(bytes.subarray(0, used))) {
    return { condition: 'missing', ...empty }
  }
  if (!bytes.subarray(0, WAL_MAGIC.byteLength).equals(WAL_MAGIC)) return { condition: 'corrupt', ...empty }
  const entries: WalEntry[] = []
  let at = WAL_MAGIC.byteLength
  let batch = 0
  for (let record = readRecord(bytes, at); record !== null; record = readRecord(bytes, at)) {
    entries.push(record.entry)
    batch = record.batch
    at = record.end
  }
  const tornBytes = used - at
  const corrupt = tornBytes > 0 && hasLaterBatch(bytes, at, batch)
  return { condition: corrupt ? 'corrupt' : 'sound', entries, end: at, batch, tornBytes: Math.max(0, tornBytes) }
}

const readRecord = (bytes: Buffer, at: number) => {
  const start = at + RECORD_HEADER_BYTES
  if (start + BODY_HEADER_BYTES > bytes.byteLength) return null
  const length = bytes.readUInt32LE(at)
  const end = start + length
  if (length < BODY_HEADER_BYTES || end > bytes.byteLength) return null
  const body = bytes.subarray(start, end)
  if (crc32(body) !== bytes.readUInt32LE(at + 4)) return null
  return {
    entry: { type: body.readUInt8(0), payload: new Uint8Array(body.subarray(BODY_HEADER_BYTES)) },
    batch: body.readUInt32LE(1),
    end,
  }
}

/** Length without the zeros at the end. */
const usedBytes = (bytes: Buffer): number => {
  let end = bytes.byteLength
  while (end > 0 && bytes[end - 1] === 0) end--
  return end
}

/**
 * Returns true when a complete record of a later batch follows the damage. The batch in doubt is that of the last valid
 * record or the next; a later batch was written only after that one was durable, so the damage is not a torn write.
 */
const hasLaterBatch = (bytes: Buffer, damagedAt: number, lastBatch: number): boolean => {
  let budget = CONSENSUS_LIMITS.walBytes * 4
  for (let at = damagedAt + 1; at < bytes.byteLength && budget > 0; at++) {
    const start = at + RECORD_HEADER_BYTES
    if (start + BODY_HEADER_BYTES > bytes.byteLength) return false
    const length = bytes.readUInt32LE(at)
    const batch = bytes.readUInt32LE(start + 1)
    if (length < BODY_HEADER_BYTES || length > bytes.byteLength - start || batch <= lastBatch + 1) continue
    // The batch counter makes random matches rare; the budget bounds their cost.
    if (batch > lastBatch + bytes.byteLength) continue
    budget -= length
    if (readRecord(bytes, at) !== null) return true
  }
  return false
}
