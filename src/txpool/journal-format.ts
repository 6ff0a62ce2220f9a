import { crc32 } from 'node:zlib'
import { asBuffer, bytesEqual } from '@tandem/base/bytes.ts'
import { BLOCK_BOUNDS } from '../config/protocol-bounds.ts'

/*
 * File format: eight bytes that identify the format, then consecutive records, numbers little-endian:
 *   size u32 | crc32 u32 of size and bytes | bytes of a raw transaction
 * There are no empty records, so that a tail of zeros, which a crash can leave, is not a record.
 */
export const JOURNAL_MAGIC: Uint8Array = Buffer.from('TNDMTXJ1', 'latin1')
const HEAD_BYTES = 8

/** Returns the records of these transactions in one piece. */
export const encodeRecords = (raws: readonly Uint8Array[]): Uint8Array => {
  let size = 0
  for (const raw of raws) size += HEAD_BYTES + raw.byteLength
  const out = Buffer.allocUnsafe(size)
  let at = 0
  for (const raw of raws) {
    out.writeUInt32LE(raw.byteLength, at)
    out.set(raw, at + HEAD_BYTES)
    out.writeUInt32LE(checksum(out, at, raw.byteLength), at + 4)
    at += HEAD_BYTES + raw.byteLength
  }
  return out
}

interface DecodedJournal {
  readonly transactions: readonly Uint8Array[]
  /** Bytes after the last complete record: torn by a crash, or damaged. */
  readonly lostBytes: number
}

/** Reads up to the first torn or damaged record. A file of another format counts as lost bytes. */
export const decodeJournal = (bytes: Uint8Array): DecodedJournal => {
  const file = asBuffer(bytes)
  if (!bytesEqual(file.subarray(0, HEAD_BYTES), JOURNAL_MAGIC)) return { transactions: [], lostBytes: file.byteLength }
  const transactions: Uint8Array[] = []
  let at = JOURNAL_MAGIC.byteLength
  while (at + HEAD_BYTES <= file.byteLength) {
    const size = file.readUInt32LE(at)
    const end = at + HEAD_BYTES + size
    if (size === 0 || size > BLOCK_BOUNDS.transactionBytes || end > file.byteLength) break
    if (file.readUInt32LE(at + 4) !== checksum(file, at, size)) break
    transactions.push(file.subarray(at + HEAD_BYTES, end))
    at = end
  }
  return { transactions, lostBytes: file.byteLength - at }
}

const checksum = (file: Buffer, at: number, size: number): number =>
  crc32(file.subarray(at + HEAD_BYTES, at + HEAD_BYTES + size), crc32(file.subarray(at, at + 4)))
