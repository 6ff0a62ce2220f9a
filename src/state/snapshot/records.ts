import { asBuffer } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { type Account, decodeAccount, EMPTY_ROOT, encodeAccount } from '../account.ts'

/** Errors of data from a peer about a snapshot or historic blocks, thrown as CodedError. */
type SnapshotDataError =
  | { readonly code: 'SNAPSHOT_FALSE'; readonly reason: string; readonly number?: number }
  /** The blocks are valid, their receipts are not. */
  | { readonly code: 'RECEIPTS_FALSE'; readonly reason: string; readonly number?: number }

/** `number`: block of a range to which the reason belongs. */
export const falseSnapshot = (reason: string, number?: number): CodedError<SnapshotDataError> =>
  new CodedError({ code: 'SNAPSHOT_FALSE', reason, ...(number !== undefined && { number }) })

export const falseReceipts = (reason: string, number?: number): CodedError<SnapshotDataError> =>
  new CodedError({ code: 'RECEIPTS_FALSE', reason, ...(number !== undefined && { number }) })

/*
 * Format 1. Records in key order:
 *   account  key 32 | length of the row 1 | row (state/account.ts) | with storage: count of slots 4 | slots
 *   slot     key 32 | length of the word 1 | word without leading zeros
 * Keys are keccak256 hashes, numbers big-endian. The count ELSEWHERE: the storage has chunks of its own.
 */
const KEY_BYTES = 32
const ELSEWHERE = 0xffff_ffff
const MAX_WORD_BYTES = 32

export const slotRecord = (key: Uint8Array, word: Uint8Array): Uint8Array => {
  const record = Buffer.allocUnsafe(KEY_BYTES + 1 + word.byteLength)
  record.set(key)
  record[KEY_BYTES] = word.byteLength
  record.set(word, KEY_BYTES + 1)
  return record
}

/** `slots`: their records and number; 'elsewhere', or undefined for an account without storage. */
export const accountRecord = (
  key: Uint8Array,
  row: Uint8Array,
  slots: { readonly count: number; readonly bytes: Uint8Array } | 'elsewhere' | undefined,
): Uint8Array => {
  const head = KEY_BYTES + 1 + row.byteLength
  const bytes = slots === undefined || slots === 'elsewhere' ? undefined : slots.bytes
  const record = Buffer.allocUnsafe(head + (slots === undefined ? 0 : 4) + (bytes?.byteLength ?? 0))
  record.set(key)
  record[KEY_BYTES] = row.byteLength
  record.set(row, KEY_BYTES + 1)
  if (slots === undefined) return record
  record.writeUInt32BE(slots === 'elsewhere' ? ELSEWHERE : slots.count, head)
  if (bytes !== undefined) record.set(bytes, head + 4)
  return record
}

export interface SlotRecord {
  readonly key: Uint8Array
  /** Without leading zeros, not empty. */
  readonly word: Uint8Array
}

export interface AccountRecord {
  readonly key: Uint8Array
  readonly account: Account
  /** Stored form. */
  readonly row: Uint8Array
  readonly slots: readonly SlotRecord[] | 'elsewhere'
}

/** Yields the account records of a chunk as views into it. Throws SNAPSHOT_FALSE when the bytes do not match the format. */
export function* readAccountRecords(chunk: Uint8Array): Generator<AccountRecord> {
  const cursor = new RecordCursor(chunk)
  while (!cursor.isAtEnd) {
    const key = cursor.take(KEY_BYTES)
    const row = cursor.take(cursor.byte())
    const account = accountOf(row)
    yield { key, row, account, slots: account.storageRoot === EMPTY_ROOT ? [] : readSlots(cursor) }
  }
}

/** Yields the slot records of a chunk. Throws SNAPSHOT_FALSE. */
export function* readSlotRecords(chunk: Uint8Array): Generator<SlotRecord> {
  const cursor = new RecordCursor(chunk)
  while (!cursor.isAtEnd) yield readSlot(cursor)
}

const readSlots = (cursor: RecordCursor): readonly SlotRecord[] | 'elsewhere' => {
  const count = cursor.uint32()
  if (count === ELSEWHERE) return 'elsewhere'
  const slots: SlotRecord[] = []
  // Bounded by the available bytes, whatever the count says.
  for (let i = 0; i < count; i++) slots.push(readSlot(cursor))
  return slots
}

const readSlot = (cursor: RecordCursor): SlotRecord => {
  const key = cursor.take(KEY_BYTES)
  const length = cursor.byte()
  const word = cursor.take(length)
  if (length === 0 || length > MAX_WORD_BYTES || word[0] === 0) throw falseSnapshot('a word with leading zeros')
  return { key, word }
}

/** Accepts only the canonical row of an account, or two nodes would store the same state differently. */
const accountOf = (row: Uint8Array): Account => {
  const head = row[0] ?? 0xff
  const [nonceBytes, hashes] = [head & 0x0f, (head & 0x10 ? 32 : 0) + (head & 0x20 ? 32 : 0)]
  const balanceBytes = row.byteLength - 1 - nonceBytes - hashes
  if (nonceBytes > 8 || balanceBytes < 0 || balanceBytes > 32) throw falseSnapshot('a row that is no account')
  const account = decodeAccount(row)
  if (!asBuffer(encodeAccount(account)).equals(row)) throw falseSnapshot('an account that is not in its one form')
  return account
}

class RecordCursor {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = asBuffer(bytes)
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.byteLength
  }

  byte(): number {
    return this.take(1)[0] as number
  }

  uint32(): number {
    return asBuffer(this.take(4)).readUInt32BE(0)
  }

  take(length: number): Uint8Array {
    const end = this.#at + length
    if (end > this.#bytes.byteLength) throw falseSnapshot('a record that is cut off')
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }
}
