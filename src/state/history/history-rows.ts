import { assert } from '@tandem/base/assert.ts'
import { asBuffer, EMPTY_BYTES } from '@tandem/base/bytes.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { keyWithNumber, NUMBER_BYTES, numberKey, readNumber, writeNumber } from '../../storage/keys.ts'
import type { Snapshot, Store, StoreEntry } from '../../storage/store.ts'
import { ACCOUNT_KEY_BYTES, SLOT_KEY_BYTES } from '../flat-tables.ts'

/*
 * Reverse diffs. A history row holds the value of a key before the block that changed it: the value at block n is the first row
 * with a number above n, else the flat value. An index row lists keys of one kind that one block changed.
 */
export type HistoryKind = 'account' | 'slot'

const KIND = {
  account: { bucket: BUCKETS.accountHistory, keyBytes: ACCOUNT_KEY_BYTES, byte: 0 },
  slot: { bucket: BUCKETS.slotHistory, keyBytes: SLOT_KEY_BYTES, byte: 1 },
} as const

export const HISTORY_BUCKETS = { account: KIND.account.bucket, slot: KIND.slot.bucket } as const

/** Row of a value that was absent: no account and no word is stored with two zeros at its start. Until schema 8 such rows were empty. */
const ABSENT = new Uint8Array(2)
/** Returns the stored form of a value in a history row; empty means absent. */
export const valueOfRow = (row: Uint8Array): Uint8Array => (row[0] === 0 && row[1] === 0 ? EMPTY_BYTES : row)

/** Keys in one index row, so that rows of full blocks do not slow down small reads. */
const KEYS_PER_ROW = 1_024

/** Collects one block's reverse diff into its batch. */
export class HistoryWriter {
  readonly #batch: Batch
  readonly #number: number
  readonly #pending: Record<HistoryKind, Uint8Array[]> = { account: [], slot: [] }
  #part: number

  /** `part`: the first free one, where the block has rows already (`nextHistoryPart`). */
  constructor(batch: Batch, number: number, part = 0) {
    this.#batch = batch
    this.#number = number
    this.#part = part
  }

  /** `before` is the stored form; empty means absent. */
  add(kind: HistoryKind, key: Uint8Array, before: Uint8Array): void {
    this.#batch.put(KIND[kind].bucket, keyWithNumber(key, this.#number), before.byteLength === 0 ? ABSENT : before)
    const pending = this.#pending[kind]
    if (pending.push(key) === KEYS_PER_ROW) this.#flush(kind)
  }

  finish(): void {
    this.#flush('account')
    this.#flush('slot')
  }

  #flush(kind: HistoryKind): void {
    const keys = this.#pending[kind]
    if (keys.length === 0) return
    const row = Buffer.allocUnsafe(1 + keys.length * KIND[kind].keyBytes)
    row[0] = KIND[kind].byte
    for (const [i, key] of keys.entries()) row.set(key, 1 + i * KIND[kind].keyBytes)
    this.#batch.put(BUCKETS.historyIndex, indexKeyOf(this.#number, this.#part++), row)
    this.#pending[kind] = []
  }
}

/** The part takes two bytes; beyond them, which only edits of a development chain reach one by one, six that sort after them. */
const indexKeyOf = (number: number, part: number): Uint8Array => {
  const isLate = part > LAST_SHORT_PART
  const key = Buffer.alloc(NUMBER_BYTES + (isLate ? 6 : 2))
  writeNumber(key, 0, number)
  key.writeUInt16BE(isLate ? LAST_SHORT_PART : part, NUMBER_BYTES)
  if (isLate) key.writeUInt32BE(part, NUMBER_BYTES + 2)
  return key
}
const LAST_SHORT_PART = 0xffff

/** Returns the next free part of a block's index rows. */
export const nextHistoryPart = async (store: Store, number: number): Promise<number> => {
  const last = await store.first(BUCKETS.historyIndex, { prefix: numberKey(number), reverse: true })
  if (last === undefined) return 0
  const key = asBuffer(last[0])
  return 1 + (key.byteLength > NUMBER_BYTES + 2 ? key.readUInt32BE(NUMBER_BYTES + 2) : key.readUInt16BE(NUMBER_BYTES))
}

interface ChangedKeys {
  readonly number: number
  /** Key of its index row. */
  readonly indexKey: Uint8Array
  readonly kind: HistoryKind
  readonly keys: readonly Uint8Array[]
}

/** Yields the keys that blocks `from` to `to` (inclusive) changed, ascending by block, in pieces of bounded size. */
export async function* changedKeys(
  store: Store,
  from: number,
  to: number,
  snapshot?: Snapshot,
): AsyncGenerator<ChangedKeys> {
  if (to - from < SHORT_BLOCKS) {
    for (const [key, row] of shortIndex(store, from, to, snapshot)) yield changedOf(key, row)
    return
  }
  const range = { gte: numberKey(from), lt: numberKey(to + 1), ...(snapshot === undefined ? {} : { snapshot }) }
  for await (const [key, row] of store.entries(BUCKETS.historyIndex, range)) yield changedOf(key, row)
}

/** Up to this many blocks are read row by row: a scan costs some round trips to another thread, a row in memory two microseconds. */
const SHORT_BLOCKS = 32

/** Parts of a block are numbered from 0 without gaps. */
function* shortIndex(store: Store, from: number, to: number, snapshot: Snapshot | undefined): Generator<StoreEntry> {
  for (let number = from; number <= to; number++) {
    for (let part = 0; ; part++) {
      const key = indexKeyOf(number, part)
      const row = store.getSync(BUCKETS.historyIndex, key, snapshot)
      if (row === undefined) break
      yield [key, row]
    }
  }
}

const changedOf = (indexKey: Uint8Array, row: Uint8Array): ChangedKeys => {
  const kind = row[0] === KIND.slot.byte ? 'slot' : 'account'
  const { keyBytes } = KIND[kind]
  assert((row.byteLength - 1) % keyBytes === 0, 'an index row holds whole keys')
  const keys: Uint8Array[] = []
  for (let at = 1; at < row.byteLength; at += keyBytes) keys.push(row.subarray(at, at + keyBytes))
  return { number: readNumber(indexKey), indexKey, kind, keys }
}

/** Returns the values before block `number` of keys that it changed. */
export const valuesBefore = async (
  store: Store,
  kind: HistoryKind,
  keys: readonly Uint8Array[],
  number: number,
  snapshot?: Snapshot,
): Promise<readonly Uint8Array[]> => {
  const rows = await store.getMany(
    KIND[kind].bucket,
    keys.map(key => keyWithNumber(key, number)),
    snapshot,
  )
  return rows.map(row => {
    assert(row !== undefined, 'an indexed change has its history row')
    return valueOfRow(row)
  })
}

/** Returns the value of a key after block `number` if a later block changed it; undefined: equal to the head's. Empty means absent. */
export const valueAt = async (
  store: Store,
  kind: HistoryKind,
  key: Uint8Array,
  number: number,
  snapshot: Snapshot,
): Promise<Uint8Array | undefined> => {
  const { bucket } = KIND[kind]
  const range = { gte: keyWithNumber(key, number + 1), lte: keyWithNumber(key, Number.MAX_SAFE_INTEGER), snapshot }
  const row = await store.first(bucket, range)
  return row && valueOfRow(row[1])
}

/** Adds the removal of the reverse diffs of blocks `from` to `to` to the batch. */
export const pruneHistory = async (store: Store, batch: Batch, from: number, to: number): Promise<void> => {
  for await (const { number, indexKey, kind, keys } of changedKeys(store, from, to)) {
    for (const key of keys) batch.del(KIND[kind].bucket, keyWithNumber(key, number))
    batch.del(BUCKETS.historyIndex, indexKey)
  }
}
