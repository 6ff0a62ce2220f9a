import { bytesToHex, type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { Batch } from '../storage/batch.ts'
import { BUCKETS } from '../storage/buckets.ts'
import { numberKey, readNumber, writeNumber } from '../storage/keys.ts'
import { metaKey } from '../storage/schema.ts'
import type { Snapshot, Store } from '../storage/store.ts'

/** Position of the flat tables; written with each block. */
export interface StateMeta {
  /** Block whose state the flat tables hold. */
  readonly number: number
  readonly root: Hex
  /** Oldest block whose state is readable. */
  readonly oldest: number
}

const KEY = metaKey('state')

/** undefined: before genesis. */
export const readStateMeta = async (store: Store, snapshot?: Snapshot): Promise<StateMeta | undefined> => {
  const row = await store.get(BUCKETS.meta, KEY, snapshot)
  if (row === undefined) return undefined
  return { number: readNumber(row), oldest: readNumber(row, 8), root: bytesToHex(row.subarray(16, 48)) }
}

export const putStateMeta = (batch: Batch, meta: StateMeta): void => {
  const row = new Uint8Array(48)
  writeNumber(row, 0, meta.number)
  writeNumber(row, 8, meta.oldest)
  row.set(hexToBytes(meta.root), 16)
  batch.put(BUCKETS.meta, KEY, row)
}

/** Returns the root of the state after a block: its header's, or that of edits on a development chain. ZERO_HASH: no such block. */
export const stateRootAt = async (store: Store, number: number, snapshot?: Snapshot): Promise<Hex> => {
  const edited = await store.get(BUCKETS.editedRoot, numberKey(number), snapshot)
  return edited === undefined ? storedStateRoot(store, numberKey(number), snapshot) : bytesToHex(edited)
}

const STATE_ROOT_FIELD = 33 + 33 + 21
const HASH_BYTES = 32

/** Returns the stateRoot of a stored header by its place after fields of fixed lengths; ZERO_HASH without such a header. */
export const storedStateRoot = async (store: Store, numberKey: Uint8Array, snapshot?: Snapshot): Promise<Hex> => {
  const row = await store.get(BUCKETS.header, numberKey, snapshot)
  const first = row?.[0] ?? 0
  if (row === undefined || first <= 0xf7) return ZERO_HASH
  const at = 1 + (first - 0xf7) + STATE_ROOT_FIELD + 1
  return row.byteLength < at + HASH_BYTES ? ZERO_HASH : bytesToHex(row.subarray(at, at + HASH_BYTES))
}
