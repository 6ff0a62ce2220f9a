import { bytesEqual, compareBytes, EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { afterPrefix, NUMBER_BYTES, readNumber } from '../../storage/keys.ts'
import type { Snapshot, Store, StoreEntry } from '../../storage/store.ts'
import { binaryKey, FLAT_BUCKETS } from '../flat-tables.ts'
import { changedKeys, HISTORY_BUCKETS, type HistoryKind, valueAt, valueOfRow, valuesBefore } from './history-rows.ts'

/** Range of the state after block `number`, in a snapshot of a later head. */
interface StateRange {
  readonly kind: HistoryKind
  /** Prefix of all keys: the hashed account for its slots, empty for accounts. */
  readonly prefix: Uint8Array
  /** First key, including the prefix. */
  readonly start: Uint8Array
  readonly number: number
  readonly snapshot: Snapshot
}

/** Returns the rows of a bucket from the start to the end of the prefix. */
const rowsFrom = (
  store: Store,
  bucket: number,
  { prefix, start, snapshot }: StateRange,
): AsyncGenerator<StoreEntry> => {
  const lt = prefix.byteLength === 0 ? undefined : afterPrefix(prefix)
  return store.entries(bucket, { gte: start, ...(lt && { lt }), snapshot })
}

/** Yields the keys that changed after the block, each with its value then; empty means absent. */
async function* changedSince(store: Store, at: StateRange): AsyncGenerator<StoreEntry> {
  let last: Uint8Array | undefined
  for await (const [place, row] of rowsFrom(store, HISTORY_BUCKETS[at.kind], at)) {
    const key = place.subarray(0, place.byteLength - NUMBER_BYTES)
    if (readNumber(place, key.byteLength) <= at.number || (last !== undefined && bytesEqual(key, last))) continue
    last = key
    yield [key, valueOfRow(row)]
  }
}

/** Yields stored accounts or slots after a block, ordered by hashed key. The block must be readable. */
export async function* entriesAtBlock(store: Store, at: StateRange): AsyncGenerator<StoreEntry> {
  const flat = rowsFrom(store, FLAT_BUCKETS[at.kind], at)
  const changed = changedSince(store, at)
  try {
    let [now, then] = [(await flat.next()).value, (await changed.next()).value] as (StoreEntry | undefined)[]
    while (now !== undefined || then !== undefined) {
      const order = now === undefined ? 1 : then === undefined ? -1 : compareBytes(now[0], then[0])
      const storeEntry = (order < 0 ? now : then) as StoreEntry
      if (storeEntry[1].byteLength > 0) yield storeEntry
      if (order <= 0) now = (await flat.next()).value as StoreEntry | undefined
      if (order >= 0) then = (await changed.next()).value as StoreEntry | undefined
    }
  } finally {
    await Promise.all([flat.return(undefined), changed.return(undefined)])
  }
}

/** Hashes of accounts whose stored form differs between the states after two readable blocks, ascending; `from` < `to`. */
export const changedAccounts = async (
  store: Store,
  { from, to, snapshot }: { readonly from: number; readonly to: number; readonly snapshot: Snapshot },
  turn: () => Promise<void>,
): Promise<readonly Uint8Array[]> => {
  const before = new Map<string, { readonly key: Uint8Array; readonly value: Uint8Array }>()
  for await (const { kind, keys, number } of changedKeys(store, from + 1, to, snapshot)) {
    if (kind !== 'account') continue
    const unseen = keys.filter(key => !before.has(binaryKey(key)))
    const values = await valuesBefore(store, 'account', unseen, number, snapshot)
    for (const [i, key] of unseen.entries()) before.set(binaryKey(key), { key, value: values[i] as Uint8Array })
    await turn()
  }
  const changed: Uint8Array[] = []
  for (const { key, value } of before.values()) {
    const after =
      (await valueAt(store, 'account', key, to, snapshot)) ?? (await store.get(BUCKETS.account, key, snapshot))
    if (!bytesEqual(value, after ?? EMPTY_BYTES)) changed.push(key)
    await turn()
  }
  return changed.sort(compareBytes)
}
