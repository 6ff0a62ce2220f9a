import { CodedError } from '@tandem/base/errors.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey, readNumber } from '../../storage/keys.ts'
import { metaKey } from '../../storage/schema.ts'
import type { Store } from '../../storage/store.ts'
import type { ChainReadError } from './types.ts'

/* First stored block but genesis of a chain that began with a snapshot and fetches those between; no row when none is missing. */
const KEY = metaKey('earliest-block')

/** Returns the first block of the contiguous range up to the head; 0: all are stored. */
export const readEarliestBlock = async (store: Store): Promise<number> => {
  const row = await store.get(BUCKETS.meta, KEY)
  return row === undefined ? 0 : readNumber(row)
}

/** Block 1 follows genesis, which every chain has. */
export const putEarliestBlock = (batch: Batch, number: number): void => {
  if (number <= 1) batch.del(BUCKETS.meta, KEY)
  else batch.put(BUCKETS.meta, KEY, numberKey(number))
}

/** Checks a read of blocks `from` to `to`; genesis is always stored. Throws HISTORY_MISSING. */
export const requireHistory = (earliest: number, from: number, to: number = from): void => {
  if (to > 0 && from < earliest) throw new CodedError<ChainReadError>({ code: 'HISTORY_MISSING', earliest })
}
