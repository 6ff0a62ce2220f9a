import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey, readNumber } from '../../storage/keys.ts'
import { metaKey } from '../../storage/schema.ts'
import type { Store } from '../../storage/store.ts'
import { CodedError } from '../../util/errors.ts'
import type { ChainReadError } from '../types.ts'

/*
 * A chain that began with a snapshot has genesis and the blocks from some number on: the blocks between come later, from the newer ones
 * down. The row is gone when none is missing.
 */
const KEY = metaKey('earliest-block')

/** The first block of those that follow each other up to the head; 0: all are there. */
export const readEarliestBlock = async (store: Store): Promise<number> => {
  const row = await store.get(BUCKETS.meta, KEY)
  return row === undefined ? 0 : readNumber(row)
}

/** Block 1 stands on genesis, which every chain has. */
export const putEarliestBlock = (batch: Batch, number: number): void => {
  if (number <= 1) batch.del(BUCKETS.meta, KEY)
  else batch.put(BUCKETS.meta, KEY, numberKey(number))
}

/** What a read of blocks `from` to `to` meets; genesis is always there. Throws HISTORY_MISSING. */
export const requireHistory = (earliest: number, from: number, to: number = from): void => {
  if (to > 0 && from < earliest) throw new CodedError<ChainReadError>({ code: 'HISTORY_MISSING', earliest })
}
