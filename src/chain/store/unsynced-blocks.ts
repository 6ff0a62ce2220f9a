import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { storeError } from '../../storage/errors.ts'
import { numberKey, readNumber } from '../../storage/keys.ts'
import { metaKey } from '../../storage/schema.ts'
import type { Store } from '../../storage/store.ts'

/*
 * No block waits for the disk: the consensus log answers for the newest one until it is there, and blocks that are caught up are not
 * even synced one by one, since peers have them. A process that is killed loses nothing. A machine that loses its power may lose some
 * of their rows, and not only the last ones, so every block carries in its batch since when nothing was synced, and a start counts the
 * blocks after that.
 */
const UNSYNCED = metaKey('unsynced')

/** `since`: the last block known to be durable. */
export const putUnsynced = (batch: Batch, since: number): void => {
  batch.put(BUCKETS.meta, UNSYNCED, numberKey(since))
}

/** A block's rows are there together or not at all, so its header stands for it. Throws STORE_INCOMPLETE. */
export const checkUnsynced = async (store: Store, head: number): Promise<void> => {
  const row = await store.get(BUCKETS.meta, UNSYNCED)
  if (row === undefined) return
  const since = readNumber(row)
  let found = 0
  const range = { gt: numberKey(since), lte: numberKey(head) }
  for await (const _ of store.keys(BUCKETS.header, range)) found++
  // A development chain may stand below what was synced.
  if (found < head - since) throw storeError({ code: 'STORE_INCOMPLETE', path: store.path, since, head })
}
