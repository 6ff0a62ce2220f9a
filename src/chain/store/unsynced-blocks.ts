import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { storeError } from '../../storage/errors.ts'
import { numberKey, readNumber } from '../../storage/keys.ts'
import { metaKey } from '../../storage/schema.ts'
import type { Store } from '../../storage/store.ts'
import { readEarliestBlock } from './earliest-block.ts'

/*
 * Blocks are not synced one by one: the consensus log can restore the newest one until it is on disk, and during block sync peers have
 * them. A killed process loses nothing. A power failure may lose some of their rows, and not only the last ones, so every block stores
 * in its batch the last block known to be synced, and a start counts the blocks after that.
 */
const UNSYNCED = metaKey('unsynced')

/** `since`: last block known to be durable. */
export const putUnsynced = (batch: Batch, since: number): void => {
  batch.put(BUCKETS.meta, UNSYNCED, numberKey(since))
}

/** Checks that all blocks since the last sync are there by their headers, as rows of a block are atomic. Throws STORE_INCOMPLETE. */
export const checkUnsynced = async (store: Store, head: number): Promise<void> => {
  const row = await store.get(BUCKETS.meta, UNSYNCED)
  if (row === undefined) return
  // Dropped blocks are missing by intent.
  const since = Math.max(readNumber(row), await readEarliestBlock(store))
  let found = 0
  const range = { gt: numberKey(since), lte: numberKey(head) }
  for await (const _ of store.keys(BUCKETS.header, range)) found++
  // A development chain may be below the last synced block.
  if (found < head - since) throw storeError({ code: 'STORE_INCOMPLETE', path: store.path, since, head })
}
